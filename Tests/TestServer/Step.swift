public import FoundationEssentials

/// One step of a scripted answer.
public enum Step: Sendable {
    /// Text, sent in one write.
    case send(String)
    /// Bytes, sent in one write.
    case sendData(Data)
    /// Text, each byte in a write of its own.
    case sendSlowly(String)
    /// Text many times, without holding it all.
    case sendRepeatedly(String, count: Int)
    /// Bytes below TLS, which a client must take for damage.
    case sendUnencrypted([UInt8])
    /// A whole answer; its own close flag counts.
    indirect case answer(Answer)
    /// Reads so many bytes of the request's body, not decoded, and sends each piece back as a chunk at once.
    ///
    /// Only for answers to a head whose body was not read (``ServerOptions/HeadAction/answer(_:)``).
    case echo(Int)
    /// Goes on when the gate opens.
    case wait(Gate)
    /// Goes on after a time; for samples, since a test should use a gate.
    case pause(Duration)
    /// Ends the server's direction, close_notify included, and goes on reading.
    case halfClose
    /// Ends the connection in good order; what the client still sends is read and dropped.
    case close
    /// Ends the connection without close_notify, which is a truncation under TLS.
    case closeAbruptly
    /// Ends the connection by RST.
    case reset
    /// Says nothing more until the client leaves or the server stops.
    case stall

    /// A fatal TLS alert, unencrypted, then the end of the connection: `.tlsAlert(80)`.
    public static func tlsAlert(_ description: UInt8) -> [Step] {
        [.sendUnencrypted(alertRecord(description)), .closeAbruptly]
    }

    /// The record of a fatal alert (RFC 8446, sections 5.1 and 6).
    static func alertRecord(_ description: UInt8) -> [UInt8] {
        [21, 3, 3, 0, 2, 2, description]
    }
}

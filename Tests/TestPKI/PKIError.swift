import COpenSSL

/// OpenSSL refused to make something; the text is its own reason.
public struct PKIError: Error, Sendable, CustomStringConvertible {
    /// What was tried, as “sign a certificate”.
    public let operation: String
    /// What OpenSSL said, oldest entry of its error queue; empty when it said nothing.
    public let reason: String

    /// The operation and the reason in one line.
    public var description: String {
        reason.isEmpty ? "cannot \(operation)" : "cannot \(operation): \(reason)"
    }

    /// Takes the oldest reason out of this thread's error queue and empties the queue.
    init(_ operation: String) {
        self.operation = operation
        let code = ERR_get_error()
        ERR_clear_error()
        var text = [CChar](repeating: 0, count: 256)
        if code != 0 { ERR_error_string_n(code, &text, text.count) }
        reason = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension Optional {
    /// The value, or OpenSSL's reason for giving none.
    func orThrow(_ operation: String) throws(PKIError) -> Wrapped {
        guard let value = self else { throw PKIError(operation) }
        return value
    }
}

/// Throws OpenSSL's reason unless a call answered a positive number, its sign of success.
func check(_ result: Int32, _ operation: String) throws(PKIError) {
    guard result > 0 else { throw PKIError(operation) }
}

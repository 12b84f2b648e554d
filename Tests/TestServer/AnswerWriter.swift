import FoundationEssentials
import HTTPMessage

/// Puts answers on a wire.
struct AnswerWriter {
    /// What becomes of the connection.
    enum Outcome {
        case keep, close, closeAbruptly
    }

    let wire: Wire
    let stop: Gate

    /// Sends an answer for a request; nil when there was none to read.
    func send(_ answer: Answer, for request: ReceivedRequest?) throws -> Outcome {
        if let script = answer.script { return try run(script, for: request) }
        if let gate = answer.headGate { try wire.wait(for: gate, stop: stop) }
        let closes = answer.closesConnection || answer.framing == .close || request?.keepsConnection != true
        let hasBody = request?.method != "HEAD" && answer.allowsBody
        let head = head(of: answer, closes: closes)
        // Head and body go in one write when nothing stands between them.
        if hasBody, answer.bodyGate == nil, answer.repeatedLength == nil, case .length = answer.framing {
            try wire.write(head + answer.body)
        } else {
            try wire.write(head)
            if let gate = answer.bodyGate { try wire.wait(for: gate, stop: stop) }
            if hasBody { try sendBody(of: answer) }
        }
        return closes ? .close : .keep
    }

    private func head(of answer: Answer, closes: Bool) -> [UInt8] {
        var headers = answer.headers
        switch answer.framing {
        case .length where answer.allowsBody && !headers.contains("Content-Length"):
            headers.add("\(answer.repeatedLength ?? answer.body.count)", for: "Content-Length")
        case .chunked where !headers.contains("Transfer-Encoding"):
            headers.add("chunked", for: "Transfer-Encoding")
        default: break
        }
        if closes, !headers.contains("Connection") { headers.add("close", for: "Connection") }
        var text = "HTTP/1.1 \(answer.status) \(answer.reason ?? HTTPStatus.reason(of: answer.status))\r\n"
        for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
        return Array(text.utf8) + [13, 10]
    }

    private func sendBody(of answer: Answer) throws {
        var rest = answer.repeatedLength ?? answer.body.count
        let step: Int
        if case .chunked(let size) = answer.framing { step = max(1, size) } else { step = 65_536 }
        while rest > 0, !answer.body.isEmpty {
            // A repeated body starts anew with each write; a plain one goes on where it was.
            let from = answer.repeatedLength == nil ? answer.body.count - rest : 0
            let slice = answer.body.dropFirst(from).prefix(min(step, rest))
            rest -= slice.count
            if case .chunked = answer.framing {
                try wire.write(Array("\(String(slice.count, radix: 16))\r\n".utf8) + slice + [13, 10])
            } else {
                try wire.write(slice)
            }
        }
        guard case .chunked = answer.framing else { return }
        let trailers = answer.trailers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        try wire.write(Array("0\r\n\(trailers)\r\n".utf8))
    }

    private func run(_ script: [Step], for request: ReceivedRequest?) throws -> Outcome {
        for step in script {
            switch step {
            case .send(let text): try wire.write(text.utf8)
            case .sendData(let bytes): try wire.write(bytes)
            case .sendSlowly(let text): for byte in text.utf8 { try wire.write(CollectionOfOne(byte)) }
            case .sendRepeatedly(let text, let count):
                let bytes = Array(text.utf8)
                for _ in 0..<count { try wire.write(bytes) }
            case .sendUnencrypted(let bytes): try wire.writeUnencrypted(bytes)
            case .answer(let answer):
                let outcome = try send(answer, for: request)
                guard case .keep = outcome else { return outcome }
            case .echo(let count): try echo(count)
            case .wait(let gate): try wire.wait(for: gate, stop: stop)
            case .pause(let duration): try wire.wait(for: nil, stop: stop, upTo: duration)
            case .halfClose: wire.halfClose()
            case .close: return .close
            case .closeAbruptly: return .closeAbruptly
            case .reset:
                wire.resetOnClose()
                return .closeAbruptly
            case .stall: try wire.wait(for: nil, stop: stop)
            }
        }
        return .keep
    }
}

extension AnswerWriter {
    private func echo(_ count: Int) throws {
        var left = count
        var room = [UInt8](repeating: 0, count: 4_096)
        while left > 0 {
            let most = min(left, room.count)
            let read = room.withUnsafeMutableBytes {
                wire.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<most]))
            }
            guard read > 0 else { throw Wire.Ended() }
            left -= read
            try wire.write(Array("\(String(read, radix: 16))\r\n".utf8) + room[..<read] + [13, 10])
        }
    }
}

extension Answer {
    /// Whether the status lets a response have a body (RFC 9110, section 6.4.1).
    var allowsBody: Bool {
        !(100..<200).contains(status) && status != 204 && status != 304
    }
}

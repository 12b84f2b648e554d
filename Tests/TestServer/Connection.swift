import HTTPMessage

/// Serves one accepted connection from its first byte to its end, on its own thread.
struct Connection {
    let core: ServerCore
    let wire: Wire
    let id: Int
    let stop: Gate

    func run() {
        do {
            guard try begin() else { return }
            if let tls = core.tls { try wire.handshake(tls) }
            switch try serve() {
            case .keep, .close: wire.endInGoodOrder()
            case .closeAbruptly: break
            }
        } catch {
            // A client that left, a failed handshake (which is in the log), a server that stops: all end here.
        }
    }

    /// Does what the hook for new connections says; false when that is all.
    private func begin() throws -> Bool {
        switch core.options.onConnect(id) {
        case .proceed: return true
        case .proceedAfter(let gate):
            try wire.wait(for: gate, stop: stop)
            return true
        case .sendThenClose(let bytes):
            try wire.writeUnencrypted(bytes)
            wire.endInGoodOrder()
        case .close: break
        case .reset: wire.resetOnClose()
        case .stall: try wire.wait(for: nil, stop: stop)
        }
        return false
    }

    private func serve() throws -> AnswerWriter.Outcome {
        let writer = AnswerWriter(wire: wire, stop: stop)
        var reader = RequestReader(wire: wire, options: core.options)
        var index = 0
        while true {
            if let limit = core.options.idleTimeout, !reader.hasBuffered, !wire.hasInput(within: limit) {
                return .close
            }
            do {
                guard var request = try reader.head(connection: id, index: index) else { return .close }
                core.log.headRead(on: id)
                let outcome = try answer(&request, reader: &reader, writer: writer)
                guard case .keep = outcome else { return outcome }
            } catch let malformed as RequestReader.Malformed {
                return try writer.send(.text(malformed.reason, status: malformed.status).closing(), for: nil)
            }
            index += 1
        }
    }

    private func answer(
        _ request: inout ReceivedRequest,
        reader: inout RequestReader,
        writer: AnswerWriter
    ) throws -> AnswerWriter.Outcome {
        switch core.options.onHead(request) {
        case .readBody:
            let expectation = request.headers["Expect"] ?? ""
            if expectation.equalsIgnoringASCIICase("100-continue") {
                try wire.write("HTTP/1.1 100 Continue\r\n\r\n".utf8)
            }
        case .readBodySilently: break
        case .readBodyAfter(let gate): try wire.wait(for: gate, stop: stop)
        case .answer(let answer):
            if core.options.recordsRequests { core.log.requestRead(request) }
            return try writer.send(answer.script == nil ? answer.closing() : answer, for: request)
        }
        try reader.readBody(of: &request)
        if core.options.recordsRequests { core.log.requestRead(request) }
        let answer: Answer
        do {
            answer = try core.handler(request)
        } catch {
            answer = .text("the handler failed: \(error)", status: 500)
        }
        return try writer.send(answer, for: request)
    }
}

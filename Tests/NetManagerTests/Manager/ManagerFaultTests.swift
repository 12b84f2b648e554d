import TestPKI
import TestServer
import Testing

@testable import NetManager

/// Whatever a server does, a call with closures has one outcome, and a POST is executed once at most.
@Suite struct ManagerFaultTests {
    private static let faults =
        Fault.unusable + Fault.usable + [
            .bodyOfNoContent(), .bodyOfNoContent(status: 304), .manyHeaders(100), .manyHeaders(20_000),
            .interimFlood(100), .interimFlood(.max), .endlessBody, .endlessHead, .slowHead(Gate()),
            .slowBody(Gate()),
            .silence, .unsolicitedResponse, .endlessRedirect,
            Fault("a TLS alert instead of a response", .script(Step.tlsAlert(80))),
            Fault(
                "a TLS alert in the middle of a body",
                .script([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")] + Step.tlsAlert(80))
            ),
        ]

    /// What may be said about a fault: nothing of it is the caller's, the file's or the configuration's.
    private static let labels: Set<String> = [
        "connection_lost", "outcome_unknown", "protocol_error", "body_too_large", "too_many_redirects",
        "timed_out_total", "status_3xx",
    ]

    /// What is said where the connection or the server failed, and not a rule of the caller's.
    private static let labelsWithPhase: Set<String> = [
        "connection_lost", "outcome_unknown", "protocol_error",
    ]

    @Test(arguments: [HTTPMethod.get, .post], [false, true])
    func `each fault has exactly one outcome, which names the phase, and a POST is executed at most once`(
        method: HTTPMethod,
        isSecure: Bool
    ) async throws {
        let tls = try isSecure ? TLSOptions(identity: .selfSigned(PinnedServer.certificateOptions)) : nil
        let server = try TestServer(tls: tls) { request in
            guard let index = Int(request.path.dropFirst()) else { return .text("hello") }
            return Self.faults[index].answer
        }
        let queue = DispatchQueue(label: "outcomes")
        let manager = HTTPSessionManager(CurlTransport()) {
            // Long enough for the slowest fault that ends by itself, and the bound of all the others.
            $0.timeout = .seconds(2)
            $0.responseBodyLimit = 1 << 20
            $0.securityPolicy = PinnedServer.lenient
            $0.retryPolicy = .connectionLost
            $0.completionQueue = queue
        }
        let outcomes = Shared<[Int: [String]]>([:])
        await withTaskGroup(of: Void.self) { group in
            for index in Self.faults.indices {
                group.addTask {
                    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                        @Sendable func note(_ text: String) {
                            let isFirst = outcomes.withLock { outcomes in
                                outcomes[index, default: []].append(text)
                                return outcomes[index]?.count == 1
                            }
                            if isFirst { done.resume() }
                        }
                        let call = HTTPSessionManager.Call(
                            method: method,
                            url: server.url("/\(index)"),
                            parameters: nil,
                            headers: [:],
                            options: .init()
                        )
                        _ = manager.start(
                            call,
                            as: { _ in .data },
                            success: { _, data in note("success \(data.count)") },
                            failure: { _, error in
                                let isTold = error.phase != nil || !Self.labelsWithPhase.contains(error.label)
                                note(isTold ? error.label : "\(error.label) without a phase")
                            },
                            progress: nil
                        )
                    }
                }
            }
        }
        // What might still come comes before this.
        await withCheckedContinuation { done in queue.async { done.resume() } }
        for (index, fault) in Self.faults.enumerated() {
            let found = outcomes.value[index] ?? []
            #expect(found.count == 1, "\(fault): \(found)")
            let isExplained = found.first.map { $0.hasPrefix("success") || Self.labels.contains($0) } ?? false
            #expect(isExplained, "\(fault): \(found)")
            let executions = server.requests.count { $0.path == "/\(index)" && $0.method == "POST" }
            #expect(executions <= 1, "\(fault) was executed \(executions) times")
        }
    }
}

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
        ]

    /// What may be said about a fault: nothing of it is the caller's, the file's or the configuration's.
    private static let labels: Set<String> = [
        "connection_lost", "outcome_unknown", "protocol_error", "body_too_large", "too_many_redirects",
        "timed_out_total", "status_3xx",
    ]

    @Test(arguments: [HTTPMethod.get, .post])
    func `each fault has exactly one outcome, and a POST is executed at most once`(method: HTTPMethod)
        async throws
    {
        let server = try TestServer { request in
            guard let index = Int(request.path.dropFirst()) else { return .text("hello") }
            return Self.faults[index].answer
        }
        let queue = DispatchQueue(label: "outcomes")
        let manager = HTTPSessionManager(CurlTransport()) {
            // Long enough for the slowest fault that ends by itself, and the bound of all the others.
            $0.timeout = .seconds(2)
            $0.responseBodyLimit = 1 << 20
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
                            failure: { _, error in note(error.label) },
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

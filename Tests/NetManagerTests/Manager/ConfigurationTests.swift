import Dispatch
import NetManager
import Testing

@Suite struct ConfigurationTests {
    @Test func `the defaults are those that are written down`() {
        let configuration = HTTPSessionManager.Configuration()
        #expect(configuration.baseURL == nil)
        #expect(configuration.timeout == .seconds(60))
        #expect(configuration.securityPolicy == .default)
        #expect(configuration.completionQueue == nil)
        #expect(configuration.responseBodyLimit == 64 << 20)
        #expect(configuration.signatureValidatesDomainName)
        #expect(configuration.certificateDirectories.count == 2)
        #expect(
            configuration.certificateDirectories.allSatisfy {
                $0.hasSuffix("/Certificates") && $0.hasPrefix("/")
            }
        )
        #expect(configuration.retryPolicy == nil)
    }

    @Test func `report 43: 64 threads change header fields while requests are made`() async {
        // Every field has the same value, so that a request with two different ones would be torn.
        let stub = StubTransport { request in
            let values = Set(["X-A", "X-B", "X-C"].map { request.headers[$0] ?? "" })
            return .empty(values.count == 1 ? 200 : 500, to: request)
        }
        let manager = HTTPSessionManager(stub) { $0.headers = ["X-A": "0", "X-B": "0", "X-C": "0"] }
        let failures = Shared(0)
        let group = DispatchGroup()
        await withCheckedContinuation { done in
            for thread in 0..<64 {
                DispatchQueue.global().async(group: group) {
                    // The report has a thousand rounds, which show no more and take 40 seconds.
                    for round in 0..<100 {
                        let value = "\(thread)-\(round)"
                        if round.isMultiple(of: 2) {
                            manager.configuration.headers = ["X-A": value, "X-B": value, "X-C": value]
                        } else {
                            manager.updateConfiguration { configuration in
                                for name in ["X-A", "X-B", "X-C"] { configuration.headers[name] = value }
                            }
                        }
                        group.enter()
                        let failed: @Sendable (RequestTask, RequestError) -> Void = { _, _ in
                            failures.withLock { $0 += 1 }
                            group.leave()
                        }
                        manager.get("x", success: { _, _ in group.leave() }, failure: failed)
                    }
                }
            }
            group.notify(queue: .global()) { done.resume() }
        }
        #expect(failures.value == 0)
        #expect(stub.requests.count == 6400)
    }

    @Test func `updates by many threads are all kept`() {
        let manager = HTTPSessionManager(StubTransport())
        DispatchQueue.concurrentPerform(iterations: 64) { thread in
            for round in 0..<20 {
                manager.updateConfiguration { $0.headers["X-\(thread)-\(round)"] = "1" }
            }
        }
        #expect(manager.configuration.headers.count == 64 * 20)
    }

    @Test func `a call that is under way keeps the configuration that it was made with`() async throws {
        let begun = Latch()
        let go = Latch()
        struct Waiting: Interceptor {
            let begun: Latch
            let go: Latch

            func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
                begun.open()
                await go.wait()
                return try await next(request)
            }
        }
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(stub) {
            $0.interceptors = [Waiting(begun: begun, go: go)]
            $0.headers = ["X": "before"]
        }
        async let call = manager.get("x")
        await begun.wait()
        manager.configuration.headers = ["X": "after"]
        manager.securityPolicy = SecurityPolicy(pinningMode: .certificate)
        manager.configuration.interceptors = []
        go.open()
        _ = try await call
        #expect(stub.requests.first?.headers["X"] == "before")
        #expect(stub.calls.first?.context.policy == .default)
        #expect(manager.configuration.headers["X"] == "after")
    }
}

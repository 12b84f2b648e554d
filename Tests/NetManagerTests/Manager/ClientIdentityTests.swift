import NetManager
import TestPKI
import Testing

/// Which identity goes with which request of a manager.
@Suite struct ClientIdentityTests {
    /// Answers like a stub and notes the identity of each request.
    private final class Recorder: Transport {
        let stub: StubTransport
        let seen = Shared<[String]>([])

        init(_ redirects: [String: String]) {
            stub = StubTransport { request in
                guard let location = redirects[request.url.absoluteString] else {
                    return .json("1", to: request)
                }
                return .empty(307, headers: ["location": location], to: request)
            }
        }

        func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
            let name = context.clientIdentity?.certificates.first?.subject ?? "nobody"
            seen.withLock { $0.append("\(request.url.absoluteString) \(name)") }
            return try await stub.send(request, context: context)
        }
    }

    private let manager: ClientIdentity
    private let call: ClientIdentity

    init() throws {
        manager = try Authority().issue(.client(commonName: "manager")).asClient
        call = try Authority().issue(.client(commonName: "call")).asClient
    }

    private func seen(
        _ redirects: [String: String] = [:],
        configured: ClientIdentity? = nil,
        given: ClientIdentity? = nil
    ) async throws -> [String] {
        let recorder = Recorder(redirects)
        let manager = HTTPSessionManager(recorder) { $0.clientIdentity = configured }
        var options = RequestOptions()
        options.clientIdentity = given
        _ = try await manager.get("https://a.test/x", options: options)
        return recorder.seen.value
    }

    @Test func `the options' identity beats the configuration's, which beats none`() async throws {
        #expect(try await seen() == ["https://a.test/x nobody"])
        #expect(try await seen(configured: manager) == ["https://a.test/x CN=manager"])
        #expect(try await seen(configured: manager, given: call) == ["https://a.test/x CN=call"])
        #expect(try await seen(given: call) == ["https://a.test/x CN=call"])
    }

    private static let away = [
        "https://a.test/x": "/y", "https://a.test/y": "https://b.test/",
        "https://b.test/": "https://a.test/z",
    ]

    @Test func `an identity that was given with the call is for its origin only`() async throws {
        #expect(
            try await seen(Self.away, given: call) == [
                "https://a.test/x CN=call", "https://a.test/y CN=call", "https://b.test/ nobody",
                "https://a.test/z CN=call",
            ]
        )
        for other in ["https://a.test:8443/", "https://sub.a.test/"] {
            #expect(try await seen(["https://a.test/x": other], given: call).last == "\(other) nobody")
        }
    }

    @Test func `an identity of the manager goes wherever its redirects lead`() async throws {
        #expect(try await seen(Self.away, configured: manager).allSatisfy { $0.hasSuffix("CN=manager") })
        #expect(
            try await seen(Self.away, configured: manager, given: call) == [
                "https://a.test/x CN=call", "https://a.test/y CN=call", "https://b.test/ CN=manager",
                "https://a.test/z CN=call",
            ]
        )
    }

    @Test func `an identity that cannot be made fails the call as its own error`() async throws {
        let error = await requestError { _ = try await HTTPSessionManager(Failing()).get("x") }
        guard case .custom(let cause) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is ClientIdentityError)
    }

    /// Throws what loading an identity on the way may throw.
    private struct Failing: Transport {
        func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
            throw ClientIdentityError.noPrivateKey
        }
    }
}

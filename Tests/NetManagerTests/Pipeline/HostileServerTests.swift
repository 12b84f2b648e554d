import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Servers that take their time or lead astray, as the manager sees them.
@Suite struct HostileServerTests {
    @Test func `the body of a redirect that never ends does not hold the call`() async throws {
        let never = Gate()
        let server = try TestServer { request in
            guard request.target == "/" else { return .text("there") }
            var answer = Answer.redirect(to: "/there")
            answer.body = Data("moved".utf8)
            answer.bodyGate = never
            return answer
        }
        let manager = HTTPSessionManager(.init(), transport: CurlTransport())
        let start = ContinuousClock.now
        let body = try await manager.stream(HTTPRequest(url: try #require(URL(string: server.url())))) {
            try await $0.body.collect()
        }
        #expect(body == Data("there".utf8))
        // Without a bound of its own it would be the minute of Timeouts.idle, or more for a body that drips.
        #expect(start.duration(to: .now) < .seconds(50))
        never.open()
    }

    @Test func `a read that a hook turned into a write is not sent again`() async throws {
        let stub = StubTransport { request in
            guard request.method == .post else {
                return .empty(307, headers: ["Location": "/b"], to: request)
            }
            throw RequestError(.outcomeUnknown, method: .post, url: request.url.absoluteString)
        }
        let manager = HTTPSessionManager(stub) {
            $0.retryPolicy = RetryPolicy()
            $0.time = VirtualTime().source()
            $0.redirectPolicy = .modify { redirect in
                var request = redirect.proposedRequest
                request.method = .post
                return request
            }
        }
        let error = await requestError {
            _ = try await manager.send(HTTPRequest(url: try #require(URL(string: "https://a.test/"))))
        }
        #expect(error?.label == "outcome_unknown")
        #expect(stub.requests.map(\.method) == [.get, .post])
    }

    @Test func `a scheme that a server made up is not repeated at length`() async throws {
        let scheme = String(repeating: "a", count: 10_000)
        let stub = StubTransport { .empty(302, headers: ["Location": "\(scheme):x"], to: $0) }
        let error = await requestError { _ = try await HTTPSessionManager(stub).get("x") }
        #expect("\(try #require(error))".utf8.count < 500)
    }

    @Test func `a write that lost its Idempotency-Key on the way is not sent again`() async throws {
        let stub = StubTransport { request in
            guard request.url.host == "a.test" else {
                throw RequestError(.outcomeUnknown, method: .post, url: request.url.absoluteString)
            }
            return .empty(307, headers: ["Location": "https://b.test/"], to: request)
        }
        let manager = HTTPSessionManager(stub) {
            $0.retryPolicy = RetryPolicy()
            $0.time = VirtualTime().source()
        }
        var request = HTTPRequest(.post, url: try #require(URL(string: "https://a.test/")))
        request.headers = ["Idempotency-Key": "1"]
        let first = request
        _ = await requestError { _ = try await manager.send(first) }
        #expect(stub.requests.count == 2)
    }

    @Test func `credentials stay behind when a redirect leads to another origin`() async throws {
        let hops = ["https://a.test/1": "/2", "https://a.test/2": "https://b.test/3"]
        let stub = StubTransport { request in
            guard let next = hops[request.url.absoluteString] else { return .json("1", to: request) }
            return .empty(302, headers: ["Location": next], to: request)
        }
        var context = TransportContext()
        context.authentication = Authentication(user: "u", password: "p")
        let exchange = Exchange(
            request: HTTPRequest(url: try #require(URL(string: "https://a.test/1"))),
            context: context,
            control: CallControl(),
            identityAcrossOrigins: nil,
            lanes: Lanes(stub),
            time: .system,
            credentialsOrigin: URLReference("https://a.test/").origin
        )
        let settings = CallSettings(interceptors: [], redirectPolicy: .follow, isRepeatable: false)
        _ = try await Pipeline(settings, exchange: exchange).send(exchange.request)
        #expect(stub.calls.map { $0.context.authentication != nil } == [true, true, false])
    }
}

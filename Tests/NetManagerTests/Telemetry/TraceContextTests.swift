import NetManager
import Testing

@Suite struct TraceContextTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `traceparent is read and written alike`() throws {
        let context = try #require(
            TraceContext(traceparent: Self.parent, tracestate: "rojo=00f067aa0ba902b7,congo=t61")
        )
        #expect(context.traceparent == Self.parent)
        #expect(context.isSampled)
        #expect(context.state == "rojo=00f067aa0ba902b7,congo=t61")
    }

    @Test(arguments: [
        "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", "00-0-0-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.x",
        "0é-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
    ])
    func `a broken traceparent begins no trace`(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test func `a newer version is read as far as it is known, and only the known flag is handed on`() throws
    {
        let text = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-what-comes"
        #expect(try #require(TraceContext(traceparent: text)).traceparent == Self.parent)
    }

    @Test(arguments: [
        "a=1", "a=1, b=2", "a=1,,b=2", "1a@sys=x", "a_-*/9=x y", "", "a=!~",
    ])
    func `a good tracestate is kept`(state: String) {
        #expect(TraceContext(traceparent: Self.parent, tracestate: state)?.state == state)
    }

    @Test(arguments: [
        "A=1", "a", "a=", "=1", "a=1,a=2", "a=b=c", "1a=x", "a@=x", "a@b@c=x", "a=é", "a=x\r\nX: y", "a@9=x",
        (0..<33).map { "k\($0)=1" }.joined(separator: ","), "a=" + String(repeating: "x", count: 257),
        (0..<9).map { "k\($0)=" + String(repeating: "x", count: 60) }.joined(separator: ","),
    ])
    func `a broken tracestate is left out, and the trace goes on`(state: String) {
        let context = TraceContext(traceparent: Self.parent, tracestate: state)
        #expect(context?.traceparent == Self.parent)
        #expect(context?.state == "")
    }

    @Test func `several tracestate fields are one list, and two traceparents are none`() {
        var headers: HTTPHeaders = ["Traceparent": Self.parent]
        headers.add("a=1", for: "tracestate")
        headers.add("b=2", for: "TraceState")
        #expect(TraceContext(headers: headers)?.state == "a=1,b=2")
        headers.add(Self.parent, for: "traceparent")
        #expect(TraceContext(headers: headers) == nil)
        #expect(TraceContext(headers: [:]) == nil)
    }

    @Test func `a child is another span of the same trace`() throws {
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: "a=1"))
        let child = context.child()
        #expect(child.traceID == context.traceID)
        #expect(child.spanID != context.spanID)
        #expect(child.state == "a=1")
        #expect(child.isSampled)
        #expect(TraceContext().traceID != TraceContext().traceID)
    }

    @Test func `requests carry the trace of their task, unless they have or shall have none`() async throws {
        let stub = StubTransport(json: "{}")
        var configuration = HTTPSessionManager.Configuration()
        configuration.interceptors = [TracePropagation { $0.url.host == "ours.example" }]
        let manager = HTTPSessionManager(configuration, transport: stub)
        let context = try #require(TraceContext(traceparent: Self.parent, tracestate: "a=1"))
        _ = try await manager.get("https://ours.example/outside")
        try await TracePropagation.$current.withValue(context) {
            _ = try await manager.get("https://ours.example/inside")
            _ = try await manager.get("https://theirs.example/")
            _ = try await manager.get("https://ours.example/own", headers: ["traceparent": "mine"])
        }
        let headers = stub.requests.map(\.headers)
        #expect(headers[0]["traceparent"] == nil)
        let sent = try #require(TraceContext(headers: headers[1]))
        #expect(sent.traceID == context.traceID)
        #expect(sent.spanID != context.spanID)
        #expect(headers[1]["tracestate"] == "a=1")
        #expect(headers[2]["traceparent"] == nil)
        #expect(headers[3][values: "traceparent"] == ["mine"])
    }

    @Test func `closures carry the trace of the task that started them`() async throws {
        let stub = StubTransport(json: "{}")
        var configuration = HTTPSessionManager.Configuration()
        configuration.interceptors = [TracePropagation()]
        let manager = HTTPSessionManager(configuration, transport: stub)
        let context = TraceContext()
        await TracePropagation.$current.withValue(context) {
            await withCheckedContinuation { continuation in
                manager.get("https://h.example/") { _, _ in
                    continuation.resume()
                } failure: { _, _ in
                    continuation.resume()
                }
            }
        }
        #expect(stub.requests.first.flatMap { TraceContext(headers: $0.headers) }?.traceID == context.traceID)
    }
}

import Locks
import NetManager
import TestServer
import Testing

@Suite struct TelemetryTests {
    private final class Recorder: TelemetryObserver, EventMonitor {
        let measurements = Guarded<[TelemetryMeasurement]>([])
        let spans = Guarded<[TelemetrySpan]>([])
        private let ends: AsyncStream<Void>
        private let end: AsyncStream<Void>.Continuation

        init() { (ends, end) = AsyncStream<Void>.makeStream() }

        func measured(_ measurement: TelemetryMeasurement) {
            measurements.withLock { $0.append(measurement) }
        }
        func spanEnded(_ span: TelemetrySpan) { spans.withLock { $0.append(span) } }
        func callEnded(_ end: CallEnd, of call: MonitoredCall) { self.end.yield() }

        /// Waits until so many calls are over.
        func calls(_ count: Int) async {
            var iterator = ends.makeAsyncIterator()
            for _ in 0..<count { await iterator.next() }
        }

        func values(_ name: String) -> [TelemetryMeasurement] {
            measurements.withLock { $0.filter { $0.name == name } }
        }
    }

    private func manager(_ recorder: Recorder, retries: Int = 0) -> HTTPSessionManager {
        var configuration = HTTPSessionManager.Configuration()
        configuration.eventMonitors = [TelemetryMonitor(recorder), recorder]
        if retries > 0 {
            var policy = RetryPolicy()
            policy.limit = retries
            policy.firstDelay = .milliseconds(1)
            configuration.retryPolicy = policy
        }
        return HTTPSessionManager(configuration)
    }

    @Test func `a request is measured and spanned in OpenTelemetry's names`() async throws {
        let server = try TestServer { _ in .json(#"{"a": 1}"#) }
        let recorder = Recorder()
        let context = TraceContext()
        _ = try await manager(recorder).get(
            server.url("/users?token=secret"),
            headers: ["traceparent": context.traceparent]
        )
        await recorder.calls(1)
        let duration = try #require(recorder.values("http.client.request.duration").first)
        #expect(duration.unit == "s")
        #expect(duration.value > 0 && duration.value < 60)
        #expect(
            duration.attributes == [
                "http.request.method": .string("GET"), "url.scheme": .string("http"),
                "server.address": .string("localhost"), "server.port": .int(server.port),
                "http.response.status_code": .int(200), "network.protocol.name": .string("http"),
                "network.protocol.version": .string("1.1"),
            ]
        )
        #expect(recorder.values("http.client.response.body.size").first?.value == 8)
        #expect(recorder.values("http.client.active_requests").map(\.value) == [1, -1])
        let span = try #require(recorder.spans.withLock(\.first))
        #expect(span.name == "GET")
        #expect(!span.isError)
        #expect(span.context == context)
        #expect(span.attributes["url.full"] == .string(server.url("/users")))
        #expect(span.attributes["network.peer.address"] == .string("127.0.0.1"))
    }

    @Test func `a span over TLS names the version as OpenTelemetry writes it, and the cipher`() async throws {
        let server = try PinnedServer(.tls13 ... .tls13)
        let recorder = Recorder()
        var options = RequestOptions()
        options.securityPolicy = server.pinned
        _ = try await manager(recorder).get(server.server.url(), options: options)
        await recorder.calls(1)
        let span = try #require(recorder.spans.withLock(\.first))
        #expect(span.attributes["tls.protocol.version"] == .string("1.3"))
        #expect(span.attributes["tls.cipher"]?.description.hasPrefix("TLS_") == true)
        #expect(span.attributes["network.peer.port"]?.description == "\(server.server.port)")
    }

    @Test func `each attempt is a span, and a failing status is its error type`() async throws {
        let count = Guarded(0)
        let server = try TestServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .text("later", status: 503) : .json("{}")
        }
        let recorder = Recorder()
        _ = try await manager(recorder, retries: 1).get(server.url())
        await recorder.calls(1)
        let spans = recorder.spans.withLock { $0 }
        #expect(spans.map(\.isError) == [true, false])
        #expect(spans.first?.attributes["error.type"] == .string("503"))
        #expect(spans.last?.attributes["http.request.resend_count"] == .int(1))
    }

    @Test func `a failure has the error's label as its type, and nothing stays active`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let url = server.url()
        server.stop()
        let recorder = Recorder()
        await #expect(throws: RequestError.self) { _ = try await manager(recorder).get(url) }
        await recorder.calls(1)
        #expect(recorder.spans.withLock(\.first)?.attributes["error.type"] == .string("cannot_connect"))
        #expect(recorder.values("http.client.active_requests").map(\.value).reduce(0, +) == 0)
    }

    @Test func `a method that nobody knows makes no new value`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let recorder = Recorder()
        let url = try #require(URL(string: server.url()))
        _ = try await manager(recorder).send(HTTPRequest("BREW", url: url))
        await recorder.calls(1)
        let span = try #require(recorder.spans.withLock(\.first))
        #expect(span.name == "HTTP")
        #expect(span.attributes["http.request.method"] == .string("_OTHER"))
        #expect(span.attributes["http.request.method_original"] == .string("BREW"))
    }
}

import TestServer
import Testing

@testable import NetManager

/// Events over several connections.
@Suite struct EventSourceTests {
    private let time = VirtualTime()

    private func manager() -> HTTPSessionManager {
        HTTPSessionManager(CurlTransport()) { $0.time = time.source() }
    }

    private static func stream(_ text: String) -> Answer {
        .data(Data(text.utf8), type: "text/event-stream; charset=utf-8").closing()
    }

    /// A server that gives the answers one after the other, and then says that there is no more.
    private func server(_ answers: [Answer]) throws -> TestServer {
        try TestServer { request in
            request.connection < answers.count ? answers[request.connection] : .status(204).closing()
        }
    }

    @Test func `it reconnects with the last event's ID and after the time that the server asks for`()
        async throws
    {
        let server = try server([
            Self.stream("id: 1\ndata: a\n\n"), Self.stream("retry: 1500\nid: 2\ndata: b\n\ndata: lost"),
            Self.stream("id\ndata: c\n\n"),
        ])
        var data: [String] = []
        for try await event in manager().events(server.url()) { data.append(event.data) }
        #expect(data == ["a", "b", "c"])
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "2", nil])
        #expect(server.requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
        #expect(time.sleeps == [.seconds(3), .milliseconds(1500), .milliseconds(1500)])
    }

    @Test func `a connection that breaks is made again, ever later, up to the limit`() async throws {
        let server = try TestServer { _ in Fault("nothing", .script([.close])).answer }
        var settings = EventSourceSettings()
        settings.failureLimit = 6
        settings.maximumReconnectionTime = .seconds(20)
        let error = await requestError {
            for try await _ in manager().events(server.url(), settings: settings) {}
        }
        #expect(error?.label == "connection_lost")
        #expect(time.sleeps == [3, 6, 12, 20, 20, 20].map { .seconds($0) })
    }

    @Test
    func `a server that asks to be asked at once, and then breaks each connection, is asked ever later`()
        async throws
    {
        let broken = Answer.raw(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\nretry: 0\n\n"
        )
        let server = try TestServer { _ in broken }
        var settings = EventSourceSettings()
        settings.failureLimit = 4
        let error = await requestError {
            for try await _ in manager().events(server.url(), settings: settings) {}
        }
        #expect(error?.label == "connection_lost")
        #expect(time.sleeps == [0, 200, 400, 800].map { .milliseconds($0) })
    }

    @Test func `a break in the middle of the events is no end of them`() async throws {
        let broken = Answer.raw(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\nid: 9\ndata: a\n\n"
        )
        let server = try server([broken, Self.stream("data: b\n\n")])
        var data: [String] = []
        for try await event in manager().events(server.url()) { data.append(event.data) }
        #expect(data == ["a", "b"])
        #expect(server.requests.last?.headers["Last-Event-ID"] == "9")
    }

    @Test(arguments: [
        (Answer.text("no", status: 500), "status_5xx"), (.text("data: a\n\n"), "unacceptable_content_type"),
        (.status(404), "status_4xx"),
    ])
    func `what is no event stream ends it`(answer: Answer, label: String) async throws {
        let server = try TestServer { _ in answer }
        let error = await requestError { for try await _ in manager().events(server.url()) {} }
        #expect(error?.label == label)
        #expect(server.counters.requests == 1)
        #expect(time.sleeps.isEmpty)
    }

    @Test func `an event over the limit is an error, and no reason to reconnect`() async throws {
        let server = try TestServer { _ in Self.stream("data: 0123456789\n\n") }
        var settings = EventSourceSettings()
        settings.sizeLimit = 8
        let error = await requestError {
            for try await _ in manager().events(server.url(), settings: settings) {}
        }
        #expect(error?.label == "body_too_large")
        #expect(server.counters.requests == 1)
    }

    @Test func `an iteration begins where the caller says, and ends when it is left`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in
            .script([
                .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"), .wait(gate),
                .close,
            ])
        }
        var settings = EventSourceSettings()
        settings.lastEventID = "41"
        let manager = manager()
        for try await event in manager.events(server.url(), settings: settings) {
            #expect(event == ServerSentEvent(id: "41", data: "a"))
            break
        }
        #expect(await server.until { $0.openConnections == 0 })
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == ["41"])
        gate.open()
    }
}

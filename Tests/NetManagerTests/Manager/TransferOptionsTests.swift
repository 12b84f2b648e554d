import TestServer
import Testing

@testable import NetManager

/// What configuration and options say about a transfer reaches the transport.
@Suite struct TransferOptionsTests {
    private let basic = Authentication(user: "u", password: "p", schemes: .basic)

    @Test func `the configuration's limits and ways reach the transport, and options beat them`() async throws
    {
        let stub = StubTransport(json: "1")
        var timeouts = Timeouts()
        timeouts.connect = .seconds(3)
        var connection = ConnectionOptions()
        connection.unixSocketPath = "/s"
        let manager = HTTPSessionManager(stub) {
            $0.timeouts = timeouts
            $0.connection = connection
            $0.maximumDecompressionRatio = 7
            $0.authentication = basic
        }
        _ = try await manager.get("x")
        var options = RequestOptions()
        options.timeouts = Timeouts()
        options.connection = ConnectionOptions()
        options.maximumDecompressionRatio = 9
        options.authentication = Authentication(user: "v", password: "p")
        _ = try await manager.get("x", options: options)
        let contexts = stub.calls.map(\.context)
        #expect(contexts.map(\.timeouts) == [timeouts, Timeouts()])
        #expect(contexts.map(\.connection) == [connection, ConnectionOptions()])
        #expect(contexts.map(\.maximumDecompressionRatio) == [7, 9])
        #expect(contexts.map(\.authentication?.user) == ["u", "v"])
    }

    @Test func `credentials stay behind when a redirect leaves the origin, and are back when it returns`()
        async throws
    {
        let stub = StubTransport { request in
            switch request.url.absoluteString {
            case "https://a.test/1": .empty(302, headers: ["Location": "/2"], to: request)
            case "https://a.test/2": .empty(302, headers: ["Location": "https://b.test/3"], to: request)
            case "https://b.test/3": .empty(302, headers: ["Location": "https://a.test/4"], to: request)
            default: .json("1", to: request)
            }
        }
        var options = RequestOptions()
        options.authentication = basic
        _ = try await HTTPSessionManager(stub).get("https://a.test/1", options: options)
        #expect(stub.calls.map(\.context.authentication) == [basic, basic, nil, basic])
    }

    @Test(arguments: [
        ("x", true), ("https://api.example.com/other", true), ("https://other.test/", false),
        ("https://api.example.com:444/", false),
    ])
    func `the configuration's credentials are for the base URL's origin`(url: String, isSent: Bool)
        async throws
    {
        let stub = StubTransport(json: "1")
        let manager = HTTPSessionManager(stub) { $0.authentication = basic }
        _ = try await manager.get(url)
        #expect(stub.calls.map(\.context.authentication) == [isSent ? basic : nil])
    }

    @Test func `without a base URL the configuration's credentials are for the call's origin`() async throws {
        let server = try TestServer { request in
            request.headers["Authorization"] == "Basic dTpw" ? .json("1") : .status(401)
        }
        var configuration = HTTPSessionManager.Configuration()
        configuration.authentication = basic
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        #expect(try await manager.get(server.url()) == 1)
    }

    @Test func `a stage's limit fails the call with its name`() async throws {
        let server = try TestServer { _ in Fault.silence.answer }
        var options = RequestOptions()
        options.timeouts = Timeouts()
        options.timeouts?.firstByte = .milliseconds(50)
        let error = await requestError {
            _ = try await HTTPSessionManager(CurlTransport()).get(server.url(), options: options)
        }
        #expect(error?.label == "timed_out_first_byte")
    }

    @Test func `a stream's content may take longer than the timeout, its head may not`() async throws {
        let gate = Gate()
        let server = try TestServer { request in
            request.path == "/silence" ? Fault.silence.answer : .text("late").holdingBody(until: gate)
        }
        let manager = HTTPSessionManager(CurlTransport())
        func request(_ path: String) throws -> HTTPRequest {
            HTTPRequest(url: try #require(URL(string: server.url(path))))
        }
        var options = RequestOptions()
        options.timeout = .milliseconds(300)
        let content = try await manager.stream(try request("/late"), options: options) { response in
            // As long as this call may take, the other one's time passes too.
            let error = await requestError {
                try await manager.stream(try request("/silence"), options: options) { _ in }
            }
            #expect(error?.label == "timed_out_total")
            gate.open()
            return try await response.body.collect()
        }
        #expect(String(decoding: content, as: UTF8.self) == "late")
    }
}

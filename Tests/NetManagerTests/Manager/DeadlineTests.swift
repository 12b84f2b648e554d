import NetManager
import TestServer
import Testing

/// The time that a call is given is the time that it takes at most, wherever it is when the time is over.
@Suite struct DeadlineTests {
    /// Where a call hangs.
    private enum Place: CaseIterable {
        case slot, tls, firstByte, head, body, drip, upload, redirects, retries, retryAfter, interceptor
    }

    private static let limit = Duration.milliseconds(150)

    /// Sends its request again and again, as one that polls.
    private struct Poller: Interceptor {
        func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
            while true { _ = try await next(request).body.collect() }
        }
    }

    private func server(_ place: Place, _ gate: Gate) throws -> TestServer {
        let options = ServerOptions().with { options in
            options.recordsRequests = false
            switch place {
            case .tls: options.onConnect = { _ in .stall }
            case .upload: options.onHead = { _ in .readBodyAfter(gate) }
            default: break
            }
        }
        return try TestServer(options: options) { request in
            switch place {
            case .slot, .firstByte: .text("").after(gate)
            case .tls, .upload: .text("")
            case .head: Fault.slowHead(gate).answer
            case .body: Fault.slowBody(gate).answer
            case .drip:
                .script([.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")] + Self.drops)
            case .redirects:
                .script([.pause(.milliseconds(20)), .answer(.redirect(to: request.target + "x"))])
            case .retries: .status(503)
            case .retryAfter: Answer.status(503).header("Retry-After", "30")
            case .interceptor: .script([.pause(.milliseconds(20)), .answer(.text(""))])
            }
        }
    }

    /// More than the sockets hold.
    private static let large = Data(count: 64 << 20)

    /// What a call may take beyond its deadline; the sanitizers make everything ten times slower.
    private static let tolerance = Duration.milliseconds(isSanitized ? 500 : 50)

    /// A byte each 10 ms, for longer than any call here: no limit of silence helps.
    private static let drops = (0..<500).flatMap { _ in [Step.pause(.milliseconds(10)), .send("x")] }

    private func call(_ place: Place, _ server: TestServer, _ manager: HTTPSessionManager) async
        -> RequestError?
    {
        let url = place == .tls ? "https://localhost:\(server.port)/" : server.url("/")
        return await requestError {
            guard place == .upload else {
                _ = try await manager.get(url, as: .data)
                return
            }
            let url = try #require(URL(string: url))
            _ = try await manager.send(HTTPRequest(.post, url: url, body: .data(Self.large)))
        }
    }

    @Test(arguments: Place.allCases)
    private func `no call outlives its deadline by more than 50 milliseconds`(place: Place) async throws {
        let gate = Gate()
        let server = try server(place, gate)
        var configuration = HTTPSessionManager.Configuration()
        configuration.timeout = Self.limit
        configuration.redirectPolicy.limit = 1_000
        if place == .retries || place == .retryAfter {
            var policy = RetryPolicy()
            policy.limit = 1_000
            policy.firstDelay = .milliseconds(place == .retries ? 10 : 1)
            policy.multiplier = 1
            policy.budget = nil
            policy.statusCodes = [503]
            configuration.retryPolicy = policy
        }
        if place == .interceptor { configuration.interceptors = [Poller()] }
        var limits = CurlTransport.Configuration()
        limits.maximumConnectionsPerHost = place == .slot ? 1 : limits.maximumConnectionsPerHost
        let manager = HTTPSessionManager(configuration, transport: CurlTransport(limits))
        let holder = place == .slot ? Task { try await holdConnection(server, manager) } : nil
        if holder != nil { await gate.reached() }
        // The shortest of some: other tests keep the processors busy meanwhile.
        var shortest = Duration.seconds(300)
        for _ in 0..<60 {
            let start = ContinuousClock.now
            let error = await call(place, server, manager)
            let taken = start.duration(to: .now)
            // A wait that would end too late is not begun.
            let isOver = error?.label == "timed_out_total" || error?.response?.head.status == 503
            #expect(isOver, "\(String(describing: error))")
            shortest = min(shortest, taken)
            if shortest < Self.limit + Self.tolerance { break }
        }
        #expect(shortest < Self.limit + Self.tolerance)
        gate.open()
        try await holder?.value
    }

    /// Has the one connection that there may be until the gate opens.
    private func holdConnection(_ server: TestServer, _ manager: HTTPSessionManager) async throws {
        var patient = RequestOptions()
        patient.timeout = .seconds(300)
        _ = try await manager.get(server.url("/holder"), options: patient, as: .data)
    }
}

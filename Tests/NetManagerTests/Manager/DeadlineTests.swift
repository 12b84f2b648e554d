import CLinux
import Glibc
import NetManager
import TestServer
import Testing

/// The time that a call is given is the time that it takes at most, wherever it is when the time is over.
@Suite struct DeadlineTests {
    /// Where a call hangs.
    private enum Place: CaseIterable {
        case connect, tunnel, slot, tls, firstByte, head, body, drip, upload, redirects, retries, retryAfter,
            interceptor
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
            case .slot, .firstByte, .tunnel: .text("").after(gate)
            case .connect, .tls, .upload: .text("")
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
        let isSecure = place == .tls || place == .tunnel
        let url = isSecure ? "https://localhost:\(server.port)/" : server.url("/")
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
        let deaf = place == .connect ? try FullListener() : nil
        if let deaf {
            // The name in the URL is never asked for.
            configuration.connection.overrides = [
                .init(host: "localhost", toHost: "127.0.0.1", toPort: deaf.port)
            ]
        }
        if place == .tunnel { configuration.connection.proxy = .http(host: "localhost", port: server.port) }
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
        withExtendedLifetime(deaf) {}
    }

    /// Has the one connection that there may be until the gate opens.
    private func holdConnection(_ server: TestServer, _ manager: HTTPSessionManager) async throws {
        var patient = RequestOptions()
        patient.timeout = .seconds(300)
        _ = try await manager.get(server.url("/holder"), options: patient, as: .data)
    }
}

/// A socket that listens and accepts nobody, and whose queue is full: who connects to it hears nothing.
private final class FullListener {
    let port: Int
    private var descriptors: [Int32] = []

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptors.append(listener)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try #require(bind(listener, $0, size) == 0 && listen(listener, 0) == 0)
                try #require(getsockname(listener, $0, &size) == 0)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        // A queue of none has room for one; the others see to it that it is taken.
        for _ in 0..<4 {
            let client = socket(AF_INET, kind, 0)
            descriptors.append(client)
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, size) }
            }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}

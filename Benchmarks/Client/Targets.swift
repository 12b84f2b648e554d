import BenchmarkSupport
import NetManager
import Synchronization

/// Where requests go: one host under one policy, or many of either in turns.
final class Targets: Sendable {
    /// The manager and the URL of one request.
    struct Target: Sendable {
        let manager: HTTPSessionManager
        let url: String
    }

    private let managers: [HTTPSessionManager]
    private let urls: [String]
    private let isOne: Bool
    private let count = Atomic<Int>(0)

    init(_ arguments: Arguments) throws {
        urls = arguments.urls
        isOne = arguments.hosts == 1 && arguments.policies == 1
        let root = try arguments.root.map { try Certificate.load(contentsOf: $0) }
        let transport = Targets.transport(isOne: isOne, loops: arguments.loops)
        managers = (0..<arguments.policies).map { number in
            var configuration = HTTPSessionManager.Configuration()
            if let root { configuration.securityPolicy = Targets.policy(Set(root), number: number) }
            return HTTPSessionManager(configuration, transport: transport)
        }
    }

    /// Where the next request goes.
    var next: Target {
        if isOne { return Target(manager: managers[0], url: urls[0]) }
        let turn = count.wrappingAdd(1, ordering: .relaxed).oldValue
        return Target(manager: managers[turn % managers.count], url: urls[turn % urls.count])
    }

    /// One that keeps as many connections as there may be hosts; by itself libcurl keeps four for each request under way.
    private static func transport(isOne: Bool, loops: Int) -> CurlTransport {
        if isOne && loops == 1 { return .shared }
        var configuration = CurlTransport.Configuration()
        configuration.maximumIdleConnections = 4096
        configuration.loops = loops
        return CurlTransport(configuration)
    }

    /// Verified and pinned, as a program that talks to its own servers would be; one of many has a further pin.
    private static func policy(_ anchors: Set<Certificate>, number: Int) -> SecurityPolicy {
        let other = PublicKeyPin(String(repeating: "0", count: 54) + "\(1_000_000_000 + number)")
        return SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: anchors,
            pinnedPublicKeys: number == 0 ? [] : Set([other].compactMap { $0 }),
            trustAnchors: .certificates(anchors)
        )
    }
}

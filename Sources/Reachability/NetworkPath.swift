/// What the kernel's tables say about ways out of this machine.
///
/// It says nothing about whether anybody answers there: see ``NetworkReachabilityManager``.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a way, in AFNetworking's terms; the raw values are AFNetworking's.
    public enum Status: Int, Sendable, Hashable {
        /// Nobody has looked yet, or the kernel cannot be asked.
        case unknown = -1
        /// There is no default route over an interface that is up.
        case notReachable = 0
        /// There is at least one.
        case reachable = 1
    }

    /// Whether there is a way.
    public var status: Status
    /// The interfaces that default routes lead over, in the order of their names.
    public var interfaces: [String]
    /// Whether one of them is for IPv4.
    public var supportsIPv4: Bool
    /// Whether one of them is for IPv6.
    public var supportsIPv6: Bool

    /// Makes a path by hand, for tests.
    ///
    /// - Parameters:
    ///   - status: Whether there is a way.
    ///   - interfaces: The interfaces of default routes.
    ///   - supportsIPv4: Whether one is for IPv4.
    ///   - supportsIPv6: Whether one is for IPv6.
    public init(
        status: Status,
        interfaces: [String] = [],
        supportsIPv4: Bool = false,
        supportsIPv6: Bool = false
    ) {
        self.status = status
        self.interfaces = interfaces
        self.supportsIPv4 = supportsIPv4
        self.supportsIPv6 = supportsIPv6
    }

    /// Whether there is a way.
    public var isReachable: Bool { status == .reachable }
}

extension NetworkPath: CustomStringConvertible {
    /// For logs, as `reachable over eth0 (IPv4, IPv6)`.
    public var description: String {
        switch status {
        case .unknown: return "unknown"
        case .notReachable: return "not reachable: no default route over an interface that is up"
        case .reachable:
            let families = [supportsIPv4 ? "IPv4" : nil, supportsIPv6 ? "IPv6" : nil].compactMap { $0 }
            return
                "reachable over \(interfaces.joined(separator: ", ")) (\(families.joined(separator: ", ")))"
        }
    }
}

/// The kernel could not be asked about its routes.
public struct ReachabilityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which call failed, and the system's reason.
    public var description: String
}

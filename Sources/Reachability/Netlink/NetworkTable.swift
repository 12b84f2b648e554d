/// The interfaces and default routes of a machine, as far as they matter here.
struct NetworkTable: Sendable, Hashable {
    var links: [Int32: NetlinkMessage.Link] = [:]
    var routes: [NetlinkMessage.Route] = []

    /// The table of routes that everything goes by unless rules say otherwise (ip-rule(8)).
    private static let mainTable: UInt32 = 254
    private static let unicast: UInt8 = 1
    private static let up: UInt32 = 0x1
    private static let loopback: UInt32 = 0x8
    private static let running: UInt32 = 0x40

    /// Whether a route is one that leads out: the default of the main table, and no blackhole.
    static func leadsOut(_ route: NetlinkMessage.Route) -> Bool {
        route.prefix == 0 && route.table == mainTable && route.type == unicast
    }

    /// What the tables say.
    var path: NetworkPath {
        var names: Set<String> = []
        var families: Set<NetlinkMessage.Route.Family> = []
        for route in routes where Self.leadsOut(route) {
            for index in route.interfaces {
                guard let link = links[index], link.flags & Self.loopback == 0,
                    link.flags & Self.up != 0, link.flags & Self.running != 0
                else { continue }
                names.insert(link.name)
                families.insert(route.family)
            }
        }
        return NetworkPath(
            status: names.isEmpty ? .notReachable : .reachable,
            interfaces: names.sorted(),
            supportsIPv4: families.contains(.ipv4),
            supportsIPv6: families.contains(.ipv6)
        )
    }
}

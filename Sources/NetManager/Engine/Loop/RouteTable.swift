/// The routes of an engine, one object for all that are equal.
///
/// A handle that has been used keeps its route, so that its next request need not look for it.
struct RouteTable {
    /// So many are kept though nobody is on them.
    private static let most = 1024

    private var routes: Set<Route> = []
    /// When those that are not needed are looked for.
    private var bound = most

    /// The number of routes.
    var count: Int { routes.count }

    /// The route that stands for all that are equal to one.
    mutating func known(_ route: Route) -> Route {
        if let index = routes.firstIndex(of: route) { return routes[index] }
        if routes.count >= bound {
            for route in routes where route.isIdle {
                // A handle may still have it.
                route.isKnown = false
            }
            routes = routes.filter(\.isKnown)
            bound = max(Self.most, 2 * routes.count)
        }
        routes.insert(route)
        return route
    }
}

/// What is of interest in a message of rtnetlink (rtnetlink(7)).
enum NetlinkMessage: Sendable, Hashable {
    /// An interface is there, in this state.
    case link(Link)
    /// An interface went away.
    case linkRemoved(index: Int32)
    /// A route is there.
    case route(Route)
    /// A route went away.
    case routeRemoved(Route)
    /// A dump is complete.
    case done
    /// The kernel refused a request; the number is an errno, 0 for none.
    case failed(errno: Int32)
    /// A message of another kind.
    case other(type: UInt16)

    struct Link: Sendable, Hashable {
        var index: Int32
        var name: String
        /// IFF_UP, IFF_RUNNING, IFF_LOOPBACK (netdevice(7)).
        var flags: UInt32
    }

    struct Route: Sendable, Hashable {
        enum Family: UInt8, Sendable { case ipv4 = 2, ipv6 = 10 }

        var family: Family
        /// The length of the destination's prefix; 0 for a default route.
        var prefix: UInt8
        var table: UInt32
        /// RTN_UNICAST and others: blackholes are routes too.
        var type: UInt8
        /// The interfaces that it leads over, more than one for several next hops.
        var interfaces: [Int32]
    }
}

/// One datagram of rtnetlink, taken apart.
struct NetlinkBatch: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        /// The number of the request that it answers; news have that of whoever made the change.
        var sequence: UInt32
        /// Whether it is a part of a dump, or a refusal, and no news.
        var isAnswer: Bool
        var message: NetlinkMessage
    }

    var entries: [Entry] = []
    /// Whether the tables changed while they were dumped: the dump must be repeated.
    var isInterrupted = false
    /// Whether something in it cannot be read; what follows is not looked at.
    var isMalformed = false
}

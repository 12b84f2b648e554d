import FoundationEssentials
import HTTPMessage
import Locks

/// The engines of a transport that has several loops.
final class Loops: Sendable {
    let engines: [Engine]
    /// Whether connections to a host are counted together, under whatever policies they are.
    private let countsHosts: Bool
    private let table: Guarded<LoopTable>

    /// Makes the engines of a configuration; each begins its thread with its first request.
    init(_ configuration: CurlTransport.Configuration) {
        let count = configuration.usableLoops
        engines = (0..<count).map { Engine(configuration: configuration.share(ofLoop: $0, of: count)) }
        countsHosts = configuration.maximumConnectionsPerHost > 0
        table = Guarded(LoopTable(count: count))
    }

    /// Where a request goes.
    /// - Parameters:
    ///   - url: Its URL. Two spellings of one host may go over two loops, which costs a connection and no more.
    ///   - connectionID: What keeps its connections apart.
    /// - Returns: The number of an engine.
    func place(of url: URL, connectionID: String) -> Int {
        let pool = LoopTable.Pool(
            host: url.host?.asciiLowercased ?? "",
            port: url.port ?? (url.scheme?.asciiLowercased == "http" ? 80 : 443),
            connectionID: countsHosts ? "" : connectionID
        )
        return table.withLock { $0.place(of: pool) }
    }
}

extension CurlTransport.Configuration {
    /// More threads than that would be a mistake.
    static let mostLoops = 256

    /// How many loops there are: at least one, and no more than there may be connections.
    var usableLoops: Int {
        let most = maximumConnections > 0 ? min(Self.mostLoops, maximumConnections) : Self.mostLoops
        return min(max(1, loops), most)
    }

    /// What one of several loops goes by: its part of what is counted over all hosts.
    func share(ofLoop loop: Int, of count: Int) -> Self {
        var share = self
        share.maximumConnections = part(maximumConnections, loop, of: count)
        share.maximumIdleConnections = part(maximumIdleConnections, loop, of: count)
        return share
    }

    /// A part of a limit, at least one; 0 is no limit for anybody.
    private func part(_ limit: Int, _ loop: Int, of count: Int) -> Int {
        guard limit > 0 else { return limit }
        return max(1, limit / count + (loop < limit % count ? 1 : 0))
    }
}

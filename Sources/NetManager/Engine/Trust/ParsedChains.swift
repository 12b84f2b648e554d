import Locks
import SecurityPolicy

/// The chains that were parsed last.
///
/// A server shows the same certificates at every connection, and parsing two of them takes a quarter of a millisecond,
/// as long as checking their signatures. Only the parsing is spared: the same bytes are the same certificates, and the
/// policy judges them anew each time.
enum ParsedChains {
    /// A chain is some 2 to 5 KiB, parsed some 20.
    private static let limit = 32
    /// The newest last.
    private static let known = Guarded<[(der: [[UInt8]], trust: ServerTrust)]>([])

    /// The chain as a value.
    /// - Throws: `TrustError` when it cannot be parsed; that is not remembered.
    static func trust(_ chain: [[UInt8]]) throws(TrustError) -> ServerTrust {
        let found = known.withLock { known in known.last { $0.der == chain }?.trust }
        if let found { return found }
        let trust = try ServerTrust(derCertificates: chain)
        let oldest = known.withLock { known in
            known.append((chain, trust))
            return known.count > limit ? known.removeFirst() : nil
        }
        // Freed after the lock.
        _ = oldest
        return trust
    }
}

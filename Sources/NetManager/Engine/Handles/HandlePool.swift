import CCurl
import CCurlShims

/// Easy handles that wait for their next transfer.
final class HandlePool {
    /// An idle handle holds some 10 KiB; more than these are not worth keeping.
    private static let limit = 256
    /// How many wait for those whom they know.
    private static let acquaintedLimit = 16

    private let configuration: CurlTransport.Configuration
    private let selector: Selector
    /// Holds the TLS sessions, since a handle's own would be found only by chance.
    ///
    /// Sessions are found by the same options as connections, the policy's marker among them, so they never
    /// cross policies. All handles are on one thread, so it needs no locks.
    private let share: OpaquePointer?
    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) private var idle: [EasyHandle] = []
    /// Those that may remember a challenge; the one that has waited for longest first.
    private var acquainted: [EasyHandle] = []

    init(configuration: CurlTransport.Configuration, selector: Selector) {
        self.configuration = configuration
        self.selector = selector
        share = curl_share_init().map { OpaquePointer($0) }
        if let share {
            nm_share_setopt_long(
                UnsafeMutableRawPointer(share),
                CURLSHOPT_SHARE,
                Int(CURL_LOCK_DATA_SSL_SESSION.rawValue)
            )
        }
    }

    func take() -> EasyHandle? {
        idle.popLast() ?? make()
    }

    /// Takes a handle for a request: one that remembers nothing which this request must not know.
    func take(for plan: TransferPlan) -> EasyHandle? {
        guard plan.context.settings.mayBeChallenged else { return take() }
        let acquaintance = Acquaintance(plan)
        if let place = acquainted.lastIndex(where: { $0.acquaintance == acquaintance }) {
            return acquainted.remove(at: place)
        }
        // The others know at least that Basic was chosen.
        let handle = make()
        handle?.acquaintance = acquaintance
        return handle
    }

    private func make() -> EasyHandle? {
        EasyHandle(configuration: configuration, selector: selector, share: share)
    }

    func give(back handle: EasyHandle) {
        handle.transfer = nil
        guard !handle.isWornOut, !handle.remembersHost, idle.count < Self.limit,
            (try? handle.forgetSecrets()) != nil
        else { return }
        guard let acquaintance = handle.acquaintance else { return idle.append(handle) }
        guard acquaintance.isLasting else { return }
        acquainted.append(handle)
        if acquainted.count > Self.acquaintedLimit { acquainted.removeFirst() }
    }

    /// Frees the handles.
    func close() {
        idle = []
        acquainted = []
    }

    /// Frees the sessions; every connection must have been closed.
    func closeShare() {
        if let share { curl_share_cleanup(UnsafeMutableRawPointer(share)) }
    }
}

import CCurl
import CCurlShims

/// Easy handles that wait for their next transfer.
final class HandlePool {
    /// An idle handle holds some 10 KiB; more than these are not worth keeping.
    private static let limit = 256

    private let configuration: CurlTransport.Configuration
    private let selector: Selector
    /// Holds the TLS sessions, since a handle's own would be found only by chance.
    ///
    /// Sessions are found by the same options as connections, the policy's marker among them, so they never
    /// cross policies. All handles are on one thread, so it needs no locks.
    private let share: OpaquePointer?
    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) private var idle: [EasyHandle] = []

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
        idle.popLast() ?? EasyHandle(configuration: configuration, selector: selector, share: share)
    }

    func give(back handle: EasyHandle) {
        handle.transfer = nil
        guard !handle.isWornOut, !handle.remembersHost, idle.count < Self.limit,
            (try? handle.forgetSecrets()) != nil
        else { return }
        idle.append(handle)
    }

    /// Frees the handles.
    func close() {
        idle = []
    }

    /// Frees the sessions; every connection must have been closed.
    func closeShare() {
        if let share { curl_share_cleanup(UnsafeMutableRawPointer(share)) }
    }
}

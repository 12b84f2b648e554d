import CCurl
import CCurlShims
import CLinux
import Glibc

/// libcurl's multi handle, wired to a selector and to a clock.
final class MultiHandle {
    /// A transfer that libcurl has ended.
    struct Finished {
        let easy: UnsafeMutableRawPointer
        let code: CURLcode
    }

    let selector: Selector
    private let pointer: UnsafeMutableRawPointer?
    /// When libcurl wants to be called though nothing happened, in nanoseconds of the monotonic clock.
    private var deadline: UInt64?

    init(selector: Selector, configuration: CurlTransport.Configuration) {
        self.selector = selector
        pointer = curl_multi_init()
        guard let pointer else { return }
        let context = Unmanaged.passUnretained(self).toOpaque()
        nm_multi_setopt_pointer(pointer, CURLMOPT_SOCKETDATA, context)
        nm_multi_setopt_socket_callback(pointer) { easy, socket, what, context, _ in
            if let context { MultiHandle.from(context).socketChanged(socket, what: what, of: easy) }
            return 0
        }
        nm_multi_setopt_pointer(pointer, CURLMOPT_TIMERDATA, context)
        nm_multi_setopt_timer_callback(pointer) { _, milliseconds, context in
            if let context { MultiHandle.from(context).timerChanged(milliseconds) }
            return 0
        }
        nm_multi_setopt_long(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maximumConnectionsPerHost)
        nm_multi_setopt_long(pointer, CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.maximumConnections)
        nm_multi_setopt_long(pointer, CURLMOPT_MAXCONNECTS, configuration.maximumIdleConnections)
        nm_multi_setopt_long(pointer, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        // libcurl's own bound of 100 opened 1,901 connections for 2,000 requests to a server that allows 4,096
        // streams; the peer's SETTINGS bound it anyway.
        nm_multi_setopt_long(pointer, CURLMOPT_MAX_CONCURRENT_STREAMS, 4096)
    }

    private static func from(_ context: UnsafeMutableRawPointer) -> MultiHandle {
        Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
    }

    /// Frees the handle.
    ///
    /// Every easy handle must have been removed. libcurl still calls the socket callback here.
    func close() {
        curl_multi_cleanup(pointer)
    }

    func add(_ easy: UnsafeMutableRawPointer) -> CURLMcode {
        curl_multi_add_handle(pointer, easy)
    }

    func remove(_ easy: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(pointer, easy)
    }

    /// Lets libcurl act on what happened.
    func act(on event: Selector.Event) {
        var mask: Int32 = 0
        if event.readable { mask |= CURL_CSELECT_IN }
        if event.writable { mask |= CURL_CSELECT_OUT }
        if event.failed { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(pointer, event.descriptor, mask, &running)
    }

    /// Lets libcurl act when its time has come.
    func actIfDue() {
        guard let deadline, deadline == 0 || deadline <= MonotonicClock.nanoseconds else { return }
        self.deadline = nil
        var running: Int32 = 0
        // CURL_SOCKET_TIMEOUT is CURL_SOCKET_BAD, which Swift does not import.
        curl_multi_socket_action(pointer, -1, 0, &running)
    }

    /// The next transfer that has ended.
    func nextFinished() -> Finished? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(pointer, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else {
                continue
            }
            return Finished(easy: easy, code: nm_message_result(message))
        }
        return nil
    }

    /// How long the thread may sleep, in milliseconds, -1 for ever.
    var milliseconds: Int32 {
        deadline.map { MonotonicClock.milliseconds(until: $0) } ?? -1
    }

    private func socketChanged(_ socket: curl_socket_t, what: Int32, of easy: UnsafeMutableRawPointer?) {
        switch what {
        case CURL_POLL_IN: selector.watch(socket, for: .read)
        case CURL_POLL_OUT: selector.watch(socket, for: .write)
        case CURL_POLL_INOUT: selector.watch(socket, for: [.read, .write])
        default: selector.ignore(socket)
        }
        guard what & CURL_POLL_IN != 0, let easy, let watched = selector.watched(socket) else { return }
        CurlCallbacks.with(nm_easy_getinfo_private(easy)) { $0.isRead(from: watched) }
    }

    private func timerChanged(_ milliseconds: Int) {
        // At once, as with each request that is added, is before any time that the clock shows.
        deadline =
            milliseconds < 0
            ? nil : milliseconds == 0 ? 0 : MonotonicClock.nanoseconds + UInt64(milliseconds) * 1_000_000
    }
}

/// The clock that is never set.
enum MonotonicClock {
    /// Milliseconds until a time, for epoll.
    static func milliseconds(until deadline: UInt64) -> Int32 {
        guard deadline > 0 else { return 0 }
        let now = nanoseconds
        guard deadline > now else { return 0 }
        // Rounded up: waking too early would only mean another turn. A day is the most that fits any use.
        return Int32(min((deadline - now + 999_999) / 1_000_000, 86_400_000))
    }

    static var nanoseconds: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}

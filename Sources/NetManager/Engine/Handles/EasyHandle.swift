import CCurl
import CCurlShims
import Glibc

/// One of libcurl's easy handles, reused from transfer to transfer.
///
/// It remembers what it has been told, so that only what differs is told again; and it is the context of every
/// callback, so that the callbacks are set once.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    /// The transfer that the handle works for.
    var transfer: Transfer? {
        didSet { callee = transfer.map { Unmanaged.passUnretained($0) } }
    }
    /// The same for libcurl's callbacks, a dozen for each request, which need not count references to it: nothing in them
    /// lets go of a transfer.
    private(set) var callee: Unmanaged<Transfer>?
    let selector: Selector
    /// What the handle has been told (EasyHandle+Options).
    ///
    /// Read and assigned, with nothing called meanwhile, so that the run time need not watch for a second access: a request
    /// makes fifteen.
    @exclusivity(unchecked) var applied = AppliedOptions()
    /// libcurl's URL parser, which decides what host is meant.
    let parsedURL: OpaquePointer
    var headerList: UnsafeMutablePointer<curl_slist>?
    var connectToList: UnsafeMutablePointer<curl_slist>?
    /// Whether no other transfer may have it.
    var isWornOut = false
    /// Whether a request named a host of its own, whose cookies libcurl (7.71 to 8.19, CVE-2026-6276) takes for those of every
    /// later host too: the handle is given up.
    var remembersHost = false
    /// Whom it serves alone; nil for everybody who will not be challenged.
    var acquaintance: Acquaintance?
    /// What all handles of the pool share, unless a jar takes its place.
    private let share: OpaquePointer?
    private let errorText: UnsafeMutablePointer<CChar>

    init?(configuration: CurlTransport.Configuration, selector: Selector, share: OpaquePointer?) {
        guard let pointer = curl_easy_init() else { return nil }
        guard let parsedURL = curl_url() else {
            curl_easy_cleanup(pointer)
            return nil
        }
        self.pointer = pointer
        self.parsedURL = parsedURL
        self.selector = selector
        self.share = share
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        configure(configuration, share: share)
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_url_cleanup(parsedURL)
        curl_slist_free_all(headerList)
        curl_slist_free_all(connectToList)
        errorText.deallocate()
    }

    /// Sets what never changes.
    private func configure(_ configuration: CurlTransport.Configuration, share: OpaquePointer?) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [
            CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
            CURLOPT_PREREQDATA, CURLOPT_SSL_CTX_DATA, CURLOPT_OPENSOCKETDATA, CURLOPT_XFERINFODATA,
            CURLOPT_RESOLVER_START_DATA,
        ] {
            nm_easy_setopt_pointer(pointer, option, context)
        }
        // A socket may outlive the handle, so its closing is told to the selector directly.
        nm_easy_setopt_pointer(
            pointer,
            CURLOPT_CLOSESOCKETDATA,
            Unmanaged.passUnretained(selector).toOpaque()
        )
        nm_easy_setopt_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
        if let share { nm_easy_setopt_pointer(pointer, CURLOPT_SHARE, UnsafeMutableRawPointer(share)) }
        CurlCallbacks.install(on: pointer)
        // Without it libcurl changes the process's signal handlers on every call.
        nm_easy_setopt_long(pointer, CURLOPT_NOSIGNAL, 1)
        nm_easy_restrict_to_http(pointer)
        // A transfer that ends while its name is looked up would wait for the system's resolver, half a minute where no name
        // server answers, and hold up every other transfer. The look-up's own thread cleans up behind itself.
        nm_easy_leave_resolver_alone(pointer)
        // One transfer is one server and one policy; redirects are followed above.
        nm_easy_setopt_long(pointer, CURLOPT_FOLLOWLOCATION, 0)
        nm_easy_setopt_long(pointer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Who is excepted from a proxy is decided before (ProxyExceptions); without this the environment is asked.
        nm_easy_setopt_string(pointer, CURLOPT_NOPROXY, "")
        // HTTP/2 where TLS negotiates it.
        nm_easy_setopt_long(pointer, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        let idleTime = max(0, min(configuration.idleTimeout.wholeSeconds, Int64(Int32.max)))
        nm_easy_setopt_long(pointer, CURLOPT_MAXAGE_CONN, Int(idleTime))
        if let lifetime = configuration.maximumConnectionLifetime {
            // 0 would mean any age.
            let seconds = max(1, min(lifetime.wholeSeconds, Int64(Int32.max)))
            nm_easy_setopt_long(pointer, CURLOPT_MAXLIFETIME_CONN, Int(seconds))
        }
        nm_easy_setopt_string(pointer, CURLOPT_ACCEPT_ENCODING, "")
        // Trust is the policy's own: libcurl must always ask, and must load no certificates of the system, which
        // costs 20 ms a connection and would be a second opinion. The marker of the policy takes their place.
        nm_easy_setopt_long(pointer, CURLOPT_SSL_VERIFYPEER, 1)
        nm_easy_setopt_long(pointer, CURLOPT_SSL_VERIFYHOST, 2)
        nm_easy_setopt_string(pointer, CURLOPT_CAINFO, nil)
        nm_easy_setopt_string(pointer, CURLOPT_CAPATH, nil)
    }

    /// Takes part in a jar's cookies, or, with nil, in none.
    ///
    /// A handle has one share, so a jar's holds TLS sessions too.
    func use(_ jar: CookieJar?) throws(TransferFailure) {
        guard applied.cookieJar !== jar else { return }
        let share = (jar?.share ?? share).map { UnsafeMutableRawPointer($0) }
        try check(nm_easy_setopt_pointer(pointer, CURLOPT_SHARE, share), CURLOPT_SHARE)
        // From here on libcurl uses this jar's share, whatever fails below.
        applied.cookieJar = jar
        // The share alone does not turn libcurl's cookies on; a file without a name does, and reads nothing.
        do {
            try set(CURLOPT_COOKIEFILE, jar == nil ? nil : "")
        } catch {
            isWornOut = true
            throw error
        }
    }

    /// libcurl's words about what went wrong; nil when it said nothing.
    var errorMessage: String? {
        let text = String(cString: errorText)
        return text.isEmpty ? nil : text
    }

    func clearErrorMessage() {
        errorText.pointee = 0
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransferFailure) {
        try check(nm_easy_setopt_long(pointer, option, value), option)
    }

    func setOffset(_ option: CURLoption, _ value: Int64) throws(TransferFailure) {
        try check(nm_easy_setopt_offset(pointer, option, curl_off_t(value)), option)
    }

    func set(_ option: CURLoption, _ value: String?) throws(TransferFailure) {
        try check(nm_easy_setopt_string(pointer, option, value), option)
    }

    func check(_ code: CURLcode, _ option: CURLoption) throws(TransferFailure) {
        guard code == CURLE_OK else { throw .option(Int(option.rawValue)) }
    }

    /// A number that libcurl knows about the transfer; 0 when it knows none.
    func information(_ info: CURLINFO) -> Int {
        var value = 0
        return nm_easy_getinfo_long(pointer, info, &value) == CURLE_OK ? value : 0
    }

    /// A text that libcurl knows about the transfer; nil when it knows none.
    func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard nm_easy_getinfo_string(pointer, info, &value) == CURLE_OK, let value, value.pointee != 0 else {
            return nil
        }
        return String(cString: value)
    }

    /// A time or size that libcurl knows about the transfer; 0 when it knows none.
    func measure(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return nm_easy_getinfo_offset(pointer, info, &value) == CURLE_OK ? Int64(value) : 0
    }
}

extension Duration {
    /// Seconds without their fraction.
    var wholeSeconds: Int64 { components.seconds }

    /// Milliseconds, rounded up so that a limit is never shorter than asked for.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // An attosecond is 10⁻¹⁸ s, so a millisecond has 10¹⁵ of them.
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, carries) = product.addingReportingOverflow(rest)
        return overflow || carries ? (seconds < 0 ? .min : .max) : sum
    }
}

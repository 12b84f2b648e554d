import CCurl
import CCurlShims
import FoundationEssentials
import Glibc
import Locks

/// Keeps cookies and sends them to the servers they are for: libcurl's cookie engine (RFC 6265), with the public suffix
/// list where the system's libcurl has one.
///
/// A jar may be used from any thread and by many managers and transports. It lives in memory; ``save(to:)`` and
/// ``load(contentsOf:)`` keep it in files. TLS sessions are kept with the cookies, so calls with different jars do not
/// resume each other's.
///
/// A jar keeps up to 180 cookies of a domain and 3,300 in all, for a moment a quarter more. When there are more, the oldest
/// ones go: of the domain until it has 150, and of the sites that have the most until there are 3,000 in all. A cookie has
/// up to 4 KiB, and a request carries up to 150 of them (libcurl's own limits).
public final class CookieJar: Sendable {
    /// libcurl's share of cookies and TLS sessions.
    ///
    /// It may be used from any thread since libcurl locks what it touches by `locks`, each kind of data by its own.
    nonisolated(unsafe) let share: OpaquePointer?
    /// The locks are made to be used from any thread.
    nonisolated(unsafe) private let locks: UnsafeMutablePointer<pthread_mutex_t>
    private let count = Guarded(CookieCount())

    private static let lockCount = Int(CURL_LOCK_DATA_LAST.rawValue)

    /// Makes an empty jar.
    public init() {
        CurlLibrary.prepare()
        locks = .allocate(capacity: CookieJar.lockCount)
        locks.initialize(repeating: pthread_mutex_t(), count: CookieJar.lockCount)
        for index in 0..<CookieJar.lockCount { pthread_mutex_init(locks + index, nil) }
        let raw = curl_share_init()
        share = raw.map { OpaquePointer($0) }
        guard let raw else { return }
        nm_share_setopt_context(raw, UnsafeMutableRawPointer(locks))
        nm_share_setopt_lock_callback(raw) { _, data, _, context in
            guard let locks = context?.assumingMemoryBound(to: pthread_mutex_t.self) else { return }
            pthread_mutex_lock(locks + Int(data.rawValue))
        }
        nm_share_setopt_unlock_callback(raw) { _, data, context in
            guard let locks = context?.assumingMemoryBound(to: pthread_mutex_t.self) else { return }
            pthread_mutex_unlock(locks + Int(data.rawValue))
        }
        for kind in [CURL_LOCK_DATA_COOKIE, CURL_LOCK_DATA_SSL_SESSION] {
            nm_share_setopt_long(raw, CURLSHOPT_SHARE, Int(kind.rawValue))
        }
    }

    deinit {
        // Handles that use the share keep the jar, so nobody uses it any more.
        if let share { curl_share_cleanup(UnsafeMutableRawPointer(share)) }
        for index in 0..<CookieJar.lockCount { pthread_mutex_destroy(locks + index) }
        locks.deallocate()
    }

    // MARK: Cookies

    /// The cookies that have not expired, in no particular order.
    public var cookies: [Cookie] {
        lines.compactMap { Cookie(netscapeLine: $0) }
    }

    /// Adds a cookie; it replaces one of the same name, domain and path.
    /// - Parameter cookie: The cookie.
    /// - Returns: False when it cannot be one: an empty name or domain, a path without a slash, or control characters.
    @discardableResult
    public func set(_ cookie: Cookie) -> Bool {
        guard let line = cookie.netscapeLine(expiring: cookie.expires) else { return false }
        tell(line)
        if counts(CookieCount.key(of: cookie)) { dropSurplus() }
        return true
    }

    /// Removes a cookie: the one of the same name, domain and path.
    public func remove(_ cookie: Cookie) {
        var cookie = cookie
        // A server may name any path, which libcurl keeps as it is. One without a slash before it counts as all others of that
        // kind do, but for those that no line can have.
        if ["", "FALSE", "TRUE"].contains(cookie.path) { cookie.path = "none" }
        // The one way to remove a single cookie is to let it end; 1 is the first second that counts as a date.
        let end = Date(timeIntervalSince1970: 1)
        if let line = cookie.netscapeLine(expiring: end, withAnyPath: true) { tell(line) }
    }

    /// Removes every cookie.
    public func removeAll() {
        tell("ALL")
    }

    // MARK: Files

    /// The cookies in the Netscape format, which curl and many others read: the one that ``load(contentsOf:)`` reads.
    public var netscapeText: String {
        (["# Netscape HTTP Cookie File"] + lines).map { $0 + "\n" }.joined()
    }

    /// Adds the cookies of a text in the Netscape format; lines that are none are passed over.
    public func add(netscapeText text: String) {
        withHandle { handle in
            for line in text.split(whereSeparator: \.isNewline) {
                guard let cookie = Cookie(netscapeLine: line) else { continue }
                nm_easy_setopt_string(handle, CURLOPT_COOKIELIST, String(line))
                if counts(CookieCount.key(of: cookie)) { dropSurplus(handle) }
            }
        }
    }

    /// Writes all cookies, those of the session too, to a file that only its owner may read, in one step.
    /// - Parameter path: The file; an existing one is replaced.
    /// - Throws: ``CookieFileError`` when it cannot be written.
    public func save(to path: String) throws(CookieFileError) {
        do throws(FileProblem) {
            let file = try PartialFile(target: path, isResumable: false, permissions: 0o600)
            do throws(FileProblem) {
                try file.write(Data(netscapeText.utf8))
                try file.finish(.replace)
            } catch {
                file.remove()
                throw error
            }
        } catch {
            throw CookieFileError(path: path, reason: error.reason)
        }
    }

    /// Adds the cookies of a file in the Netscape format.
    /// - Parameter path: The file.
    /// - Throws: ``CookieFileError`` when it cannot be read.
    public func load(contentsOf path: String) throws(CookieFileError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw CookieFileError(path: path, reason: "it cannot be read")
        }
        add(netscapeText: String(decoding: data, as: UTF8.self))
    }

    // MARK: libcurl

    private var lines: [String] {
        withHandle { handle in
            let now = Date()
            return withLines(handle) { $0.map { String(cString: $0) } }.filter { line in
                // libcurl drops what has ended when it next looks for cookies to send.
                !(Cookie(netscapeLine: line)?.expires.map { $0 <= now } ?? false)
            }
        } ?? []
    }

    /// Lists the cookies as libcurl writes them; the texts are there until the closure returns.
    private func withLines<Result>(
        _ handle: UnsafeMutableRawPointer,
        _ body: ([UnsafePointer<CChar>]) -> Result
    ) -> Result {
        var list: UnsafeMutablePointer<curl_slist>?
        let code = nm_easy_getinfo_slist(handle, CURLINFO_COOKIELIST, &list)
        defer { if code == CURLE_OK { curl_slist_free_all(list) } }
        var texts: [UnsafePointer<CChar>] = []
        var next = code == CURLE_OK ? list : nil
        while let item = next {
            if let text = item.pointee.data { texts.append(UnsafePointer(text)) }
            next = item.pointee.next
        }
        return body(texts)
    }

    private func tell(_ command: String) {
        withHandle { nm_easy_setopt_string($0, CURLOPT_COOKIELIST, command) }
    }

    // MARK: Limits

    /// Counts a cookie that was set.
    /// - Parameter key: The same only for what replaces each other in the jar; nil where nobody can say.
    /// - Returns: Whether the caller has to drop what is too much, once libcurl has returned.
    func counts(_ key: Int?) -> Bool {
        count.withLock { $0.add(key) }
    }

    /// How often it was looked through for what is too much.
    var looks: Int { count.withLock(\.looks) }

    /// Drops cookies if there are too many.
    func dropSurplus() {
        withHandle(dropSurplus)
    }

    private func dropSurplus(_ handle: UnsafeMutableRawPointer) {
        withLines(handle) { lines in
            let bytes = lines.map { UnsafeRawBufferPointer(start: $0, count: strlen($0)) }
            let finding = count.withLock { $0.look(at: bytes) }
            guard !finding.surplus.isEmpty else { return }
            if finding.isStubborn {
                // Not all that a server can set can be removed by itself, as libcurl does not read each line that it
                // writes: one with the path FALSE is none.
                nm_easy_setopt_string(handle, CURLOPT_COOKIELIST, "ALL")
                for (place, line) in lines.enumerated() where !finding.surplus.contains(place) {
                    nm_easy_setopt_string(handle, CURLOPT_COOKIELIST, line)
                }
            } else {
                for place in finding.surplus {
                    guard let end = Self.ended(lines[place]) else { continue }
                    nm_easy_setopt_string(handle, CURLOPT_COOKIELIST, end)
                }
            }
        }
    }

    /// The same cookie, ended long ago; nil where the line is none.
    private static func ended(_ line: UnsafePointer<CChar>) -> [CChar]? {
        let bytes = UnsafeBufferPointer(start: line, count: strlen(line) + 1)
        var fields = bytes.split(separator: CChar(bitPattern: 0x09), omittingEmptySubsequences: false).map(
            Array.init
        )
        guard fields.count >= 7 else { return nil }
        // The first second that counts as a date.
        fields[4] = [0x31]
        return Array(fields.joined(separator: [0x09]))
    }

    /// Looks into the share through a handle made for the moment: libcurl offers no other way.
    @discardableResult
    private func withHandle<T>(_ body: (UnsafeMutableRawPointer) -> T) -> T? {
        guard let share, let handle = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(handle) }
        nm_easy_setopt_pointer(handle, CURLOPT_SHARE, UnsafeMutableRawPointer(share))
        return body(handle)
    }
}

/// Why a file of cookies could not be used.
public struct CookieFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// What is wrong with it.
    public let reason: String

    /// Which file, and what is wrong with it.
    public var description: String { "The cookie file \(path) cannot be used: \(reason)." }
}

import FoundationEssentials
import HTTPMessage

/// How many cookies a jar may have taken since it was last looked through.
///
/// libcurl says how many there are only by listing them, so they are listed when there may be too many, and not with
/// every response. One that is set in the same way again, as sessions are with each response, counts once.
struct CookieCount: Sendable {
    /// What a look found.
    struct Finding {
        /// The places of the cookies that go.
        var surplus: Set<Int>
        /// Whether those that were to go before are still there.
        var isStubborn: Bool
    }

    /// How many more may come before somebody has to look.
    private var room = CookieSurplus.mostOfDomain
    /// How many there can be then at most.
    private var bound = CookieSurplus.mostOfDomain
    /// How often the jar was looked through.
    private(set) var looks = 0
    /// What has counted since the last look.
    private var counted: Set<Int> = []
    /// The look by which a cookie was seen first; cookies by hashes of what tells them apart.
    private var firstLooks: [Int: Int] = [:]

    /// A cookie may have been added.
    /// - Parameter key: The same only for what replaces each other in the jar; nil where nobody can say.
    /// - Returns: Whether it is time to look, which one of those who add is told.
    mutating func add(_ key: Int?) -> Bool {
        if let key, !counted.insert(key).inserted { return false }
        room -= 1
        // Once, and again later should that one have had no memory for it.
        return room <= 0 && room.isMultiple(of: 64)
    }

    /// Looks at the cookies that are there.
    /// - Parameter lines: The lines of a Netscape cookie file, those of a domain in the order in which they came.
    /// - Returns: What is to be done.
    mutating func look(at lines: [UnsafeRawBufferPointer]) -> Finding {
        var known: [Int: Int] = [:]
        known.reserveCapacity(lines.count)
        let entries = lines.map { line in
            let fields = line.split(separator: 0x09, maxSplits: 6, omittingEmptySubsequences: false)
            var hasher = Hasher()
            // The value and the time of the end say nothing about which cookie it is.
            for (place, field) in fields.enumerated() where place < 3 || place == 5 {
                hasher.combine(field.count)
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: field))
            }
            let key = hasher.finalize()
            let first = firstLooks[key] ?? looks
            known[key] = first
            return CookieSurplus.Entry(domain: Self.domain(fields[0]), age: first)
        }
        counted = []
        looks += 1
        firstLooks = known
        let surplus = CookieSurplus(of: entries)
        // Several threads may have cookies that they have not counted yet.
        let isStubborn = lines.count > bound + max(0, -room) + 64
        // libcurl takes 60 ms to list 3,300. A server that keeps as many as it may shall not be looked at each time.
        room = max(
            30 + lines.count / 4,
            min(CookieSurplus.mostOfDomain - surplus.largestDomain, CookieSurplus.most - lines.count)
        )
        bound = lines.count - surplus.places.count + room
        return Finding(surplus: surplus.places, isStubborn: isStubborn)
    }

    /// The domain that the first field of a line names, however it is written.
    private static func domain(_ field: Slice<UnsafeRawBufferPointer>) -> Substring {
        var bytes = field
        if bytes.starts(with: Cookie.httpOnlyMark.utf8) {
            bytes = bytes.dropFirst(Cookie.httpOnlyMark.utf8.count)
        }
        if bytes.first == UInt8(ascii: ".") { bytes = bytes.dropFirst() }
        return Substring(String(decoding: bytes, as: UTF8.self).asciiLowercased)
    }
}

extension CookieCount {
    /// A key of a cookie that the program sets.
    static func key(of cookie: Cookie) -> Int {
        var hasher = Hasher()
        for text in [cookie.domain, cookie.path, cookie.name] { hasher.combine(text) }
        hasher.combine(cookie.includesSubdomains)
        return hasher.finalize()
    }

    /// A key of what a server sets: all that it says but for the value and when that ends, and what libcurl adds where the
    /// server says nothing.
    /// - Parameters:
    ///   - line: The line of the field `Set-Cookie`, its name included.
    ///   - host: The server, for libcurl's cookies.
    ///   - url: What was asked for; its folder is the path of a cookie without one.
    /// - Returns: Nil where libcurl may read something else.
    static func key(ofField line: UnsafeRawBufferPointer, host: String, url: URL) -> Int? {
        let text = line.dropFirst("set-cookie:".utf8.count)
        guard let end = text.lastIndex(where: { $0 != 0x0D && $0 != 0x0A }) else { return nil }
        let content = text[...end]
        guard content.allSatisfy({ $0 >= 0x20 }) else { return nil }
        let parts = content.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let name = parts.first, let sign = name.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        var hasher = Hasher()
        func combine(_ bytes: Slice<UnsafeRawBufferPointer>) {
            hasher.combine(bytes.count)
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes))
        }
        combine(name[..<sign])
        for part in parts.dropFirst() where !tellsTime(part) { combine(part) }
        hasher.combine(host)
        let place = url.absoluteString.prefix { $0 != "?" && $0 != "#" }
        hasher.combine(place[..<(place.lastIndex(of: "/") ?? place.endIndex)])
        return hasher.finalize()
    }

    private static func tellsTime(_ part: Slice<UnsafeRawBufferPointer>) -> Bool {
        let text = part.drop { $0 == 0x20 }
        return ["expires=", "max-age="].contains { name in
            text.count >= name.utf8.count && zip(text, name.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
    }
}

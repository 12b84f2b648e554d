import HTTPMessage

/// How many cookies a jar may have taken since it was last looked through.
///
/// libcurl says how many there are only by listing them, so they are listed when there may be too many, and not with
/// every response. One that replaces another counts too.
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
    private var looks = 0
    /// The look by which a cookie was seen first; cookies by hashes of what tells them apart.
    private var firstLooks: [Int: Int] = [:]

    /// A cookie may have been added.
    /// - Returns: Whether it is time to look, which one of those who add is told.
    mutating func add() -> Bool {
        room -= 1
        // Once, and again later should that one have had no memory for it.
        return room <= 0 && room.isMultiple(of: 64)
    }

    /// Looks at the cookies that are there.
    /// - Parameter lines: The lines of a Netscape cookie file, those of a domain in the order in which they came.
    /// - Returns: What is to be done.
    mutating func look(at lines: [String]) -> Finding {
        var known: [Int: Int] = [:]
        let entries = lines.map { line in
            let fields = line.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false)
            // The value and the time of the end say nothing about which cookie it is.
            let key = (fields.prefix(3) + fields.dropFirst(5).prefix(1)).hashValue
            let first = firstLooks[key] ?? looks
            known[key] = first
            return CookieSurplus.Entry(domain: Self.domain(fields[0]), age: first)
        }
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
    private static func domain(_ field: Substring) -> Substring {
        var bytes = field.utf8[...]
        if bytes.starts(with: Cookie.httpOnlyMark.utf8) {
            bytes = bytes.dropFirst(Cookie.httpOnlyMark.utf8.count)
        }
        if bytes.first == UInt8(ascii: ".") { bytes = bytes.dropFirst() }
        return Substring(Substring(bytes).asciiLowercased)
    }
}

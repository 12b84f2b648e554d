/// Which cookies of a jar go when there are too many: a decision over values.
///
/// RFC 6265, section 6.1, asks for room for 50 cookies of a domain and 3,000 in all. libcurl bounds how long a cookie is,
/// how many one response may set and how many a request carries, but not how many there are.
struct CookieSurplus {
    /// How many cookies of one domain may be there before some of them go, and how many are left then.
    static let mostOfDomain = 180, keptOfDomain = 150
    /// The same of all domains together.
    static let most = 3_300, kept = 3_000

    /// What is known of a cookie that is there.
    struct Entry {
        /// Its domain, in small letters.
        var domain: Substring
        /// How many times the jar had been looked through before it was there.
        var age: Int
    }

    /// The places of the cookies that go, among those that were given.
    private(set) var places: Set<Int> = []
    /// How many cookies the domain has that has the most, those that go among them.
    private(set) var largestDomain = 0

    /// Chooses.
    /// - Parameter entries: The cookies that are there; of those that were seen first by the same look, the older ones first.
    init(of entries: [Entry]) {
        // Stable, so that the order among those of the same age stays.
        let oldestFirst = entries.indices.sorted { (entries[$0].age, $0) < (entries[$1].age, $1) }
        for cookies in Dictionary(grouping: oldestFirst, by: { entries[$0].domain }).values {
            largestDomain = max(largestDomain, cookies.count)
            guard cookies.count > Self.mostOfDomain else { continue }
            places.formUnion(cookies.dropLast(Self.keptOfDomain))
        }
        guard entries.count - places.count > Self.most else { return }
        let rest = oldestFirst.filter { !places.contains($0) }
        // One server has as many domains as it likes below its own, and shall not drive out the cookies of all others.
        let sites = Dictionary(grouping: rest) { Self.site(of: entries[$0].domain) }.values
        let share = Self.share(of: sites.map(\.count))
        for cookies in sites where cookies.count > share { places.formUnion(cookies.dropLast(share)) }
        let left = rest.filter { !places.contains($0) }
        places.formUnion(left.prefix(max(0, left.count - Self.kept)))
    }

    /// How many cookies each may keep so that all together keep about as many as there is room for; at least one.
    private static func share(of sizes: [Int]) -> Int {
        var room = kept
        var others = sizes.count
        for size in sizes.sorted() {
            guard size * others <= room else { return max(1, room / others) }
            room -= size
            others -= 1
        }
        return kept
    }

    /// The last two labels of a name, below which one owner is presumed; an address as a whole.
    ///
    /// Where many owners share them, as below `co.uk`, they share their room too, and only when there is none left.
    private static func site(of domain: Substring) -> Substring {
        let bytes = domain.utf8
        guard let last = bytes.lastIndex(of: UInt8(ascii: ".")), !bytes.contains(UInt8(ascii: ":")),
            !bytes[bytes.index(after: last)...].allSatisfy({ (0x30...0x39).contains($0) }),
            let dot = bytes[..<last].lastIndex(of: UInt8(ascii: "."))
        else { return domain }
        return domain[bytes.index(after: dot)...]
    }
}

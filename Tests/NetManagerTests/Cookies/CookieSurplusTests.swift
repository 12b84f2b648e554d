import Testing

@testable import NetManager

/// Which cookies go when a jar has too many.
@Suite struct CookieSurplusTests {
    private typealias Entry = CookieSurplus.Entry

    @Test func `nothing goes while there is room`() {
        let full = (0..<180).map { Entry(domain: "a.test", age: $0) }
        #expect(CookieSurplus(of: full).places.isEmpty)
        #expect(CookieSurplus(of: full).largestDomain == 180)
        #expect(CookieSurplus(of: []).places.isEmpty)
    }

    @Test func `of a domain with too many the oldest go, and nobody else's`() {
        // The newest first: the age counts and not the place.
        let crowd = (0..<181).map { Entry(domain: "a.test", age: 200 - $0) }
        let others = (0..<180).map { _ in Entry(domain: "b.test", age: 0) }
        #expect(CookieSurplus(of: crowd + others).places == Set(150..<181))
    }

    @Test func `of the same age the first go`() {
        let entries = (0..<200).map { _ in Entry(domain: "a.test", age: 0) }
        #expect(CookieSurplus(of: entries).places == Set(0..<50))
    }

    @Test func `without room, the sites that have the most give way`() {
        // Three sites of 2,000, 1,200 and 200 cookies, whose domains have one each.
        let sites = [2_000, 1_200, 200].enumerated().flatMap { site, count in
            (0..<count).map { Entry(domain: "h\($0).s\(site).test", age: 0) }
        }
        // 3,000 are shared out: 200 for the smallest, and 1,400 would be there for each of the others.
        let places = CookieSurplus(of: sites).places
        #expect(places == Set(0..<400))
    }

    @Test func `without room and all alike, the oldest go`() {
        let hosts = (0..<4_000).map { Entry(domain: "h.s\($0)", age: 4_000 - $0) }
        #expect(CookieSurplus(of: hosts).places == Set(3_000..<4_000))
    }

    @Test(arguments: ["10.0.%.1", "%", "fe80::%:1"])
    func `addresses and names of one label are sites of their own`(form: String) {
        let hosts = (0..<4_000).map { number in
            Entry(domain: Substring(form.replacing("%", with: "\(number)")), age: 0)
        }
        // One site of them all would have lost a quarter too, but this one its own as well.
        let pair = [Entry(domain: "a.x.y", age: 0), Entry(domain: "b.x.y", age: 0)]
        let places = CookieSurplus(of: hosts + pair).places
        #expect(places.count == 1_002 && places.contains(4_000) && !places.contains(4_001))
    }
}

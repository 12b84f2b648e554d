import FoundationEssentials
import Testing

@testable import NetManager

/// When a jar is to be looked through.
@Suite struct CookieCountTests {
    private func key(_ field: String, _ host: String = "a.test", _ url: String = "http://a.test/x/y?z") throws
        -> Int?
    {
        let url = try #require(URL(string: url))
        return Array("Set-Cookie: \(field)\r\n".utf8).withUnsafeBytes {
            CookieCount.key(ofField: $0, host: host, url: url)
        }
    }

    /// Adds cookies.
    /// - Returns: The places of those with which it is time to look.
    private func looks(_ count: inout CookieCount, adding keys: [Int?]) -> [Int] {
        keys.indices.filter { count.add(keys[$0]) }
    }

    @Test func `what is set in the same way again counts once`() {
        var count = CookieCount()
        #expect(looks(&count, adding: Array(repeating: 0, count: 10_000)).isEmpty)
        // With the hundred and eightieth, and again should nobody have looked.
        #expect(looks(&count, adding: Array(0..<300)) == [179, 179 + 64])
    }

    @Test func `what nobody can tell apart counts each time`() {
        var count = CookieCount()
        #expect(looks(&count, adding: Array(repeating: nil, count: 200)) == [179])
    }

    @Test(arguments: [
        "Set-Cookie:", "Set-Cookie:\r\n", "Set-Cookie: \r\n", "Set-Cookie:=\n", "Set-Cookie:;\r\n",
    ])
    func `a field without a cookie has no key, or one`(line: String) throws {
        let url = try #require(URL(string: "http://a.test"))
        let key = Array(line.utf8).withUnsafeBytes { CookieCount.key(ofField: $0, host: "", url: url) }
        #expect((key != nil) == line.contains("="))
    }

    @Test func `a look begins anew`() {
        var count = CookieCount()
        #expect(looks(&count, adding: Array(0..<100)).isEmpty)
        #expect(count.looks == 0)
        let finding = count.look(at: [])
        #expect(finding.surplus.isEmpty)
        #expect(count.looks == 1)
        #expect(looks(&count, adding: Array(0..<180)) == [179])
    }

    @Test func `the value and its end are not what tells cookies apart`() throws {
        let plain = try key("a=1; Path=/")
        #expect(plain != nil)
        #expect(try plain == key("a=2; Path=/"))
        #expect(try plain == key("a=; Path=/; Max-Age=5"))
        #expect(try plain == key("a=b=c; EXPIRES=Thu, 01 Jan 2037 00:00:00 GMT; Path=/;max-age=9"))
        #expect(try plain == key("a=2; Path=/", "a.test", "http://a.test/x/z"))
        #expect(try plain == key("a=2; Path=/", "a.test", "http://a.test/x/?a/b"))
    }

    @Test(arguments: [
        "b=1; Path=/", "A=1; Path=/", "a=1", "a=1; Path=/x", "a=1; Path=/; Path=/x",
        "a=1; Path=/; Domain=test", "a=1; =x; Path=/", "a=1; Expiresx; Path=/", "a=1;; Path=/",
    ])
    func `what may be another cookie counts as one`(field: String) throws {
        #expect(try key(field) != key("a=1; Path=/"))
        #expect(try key(field, "b.test") != key(field))
        #expect(try key(field, "a.test", "http://a.test/y/y") != key(field))
    }

    @Test(arguments: ["", ";", "a", "a; b=1", "a\t=1", "a=1; \tPath=/", "a=1\r; Path=/", "a=\u{1}"])
    func `what libcurl may read in another way is nobody's`(field: String) throws {
        #expect(try key(field) == nil)
    }
}

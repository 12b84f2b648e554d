import TestServer
import Testing

@testable import NetManager

/// How many cookies a jar keeps, whoever sets them.
@Suite struct CookieLimitTests {
    /// Answers each request with forty cookies: those that `line` writes for the request's path and a number.
    private func server(_ line: @escaping @Sendable (_ path: String, _ number: Int) -> String) throws
        -> TestServer
    {
        try TestServer { request in
            var answer = Answer.text(request.headers["Cookie"] ?? "")
            for number in 0..<40 { answer = answer.header("Set-Cookie", line(request.path, number)) }
            return answer
        }
    }

    private func ask(_ server: TestServer, _ jar: CookieJar, times: Int) async throws {
        let manager = HTTPSessionManager(CurlTransport()) { $0.cookieJar = jar }
        for number in 0..<times { _ = try await manager.get(server.url("/\(number)"), as: .string) }
    }

    @Test func `a server that sets ever new cookies leaves the newest ones`() async throws {
        let server = try server { "c\($0.dropFirst())-\($1)=1; Path=/" }
        let jar = CookieJar()
        jar.set(Cookie(name: "own", value: "1", domain: "other.test"))
        try await ask(server, jar, times: 40)
        let names = Set(jar.cookies.filter { $0.domain == "localhost" }.map(\.name))
        #expect((150...350).contains(names.count), "\(names.count)")
        #expect(names.isSuperset(of: (0..<40).map { "c39-\($0)" }))
        #expect(jar.cookies.contains { $0.name == "own" })
    }

    @Test func `cookies that cannot be removed one by one are bounded too`() async throws {
        // libcurl lists them with this path, and reads a line with it as one without a path.
        let server = try server { "c\($0.dropFirst())-\($1)=1; Path=FALSE" }
        let jar = CookieJar()
        jar.set(Cookie(name: "own", value: "1", domain: "other.test"))
        try await ask(server, jar, times: 40)
        #expect(jar.cookies.count < 700, "\(jar.cookies.count)")
        #expect(jar.cookies.contains { $0.name == "own" })
    }

    @Test func `cookies of streams count as their heads arrive`() async throws {
        let gate = Gate()
        let server = try TestServer { request in
            let fields = (0..<40).map { "Set-Cookie: c\(request.path.dropFirst())-\($0)=1; Path=/\r\n" }
            return .script([
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(fields.joined())\r\nx"), .wait(gate),
                .send("y"),
            ])
        }
        let jar = CookieJar()
        let transport = CurlTransport()
        var context = TransportContext()
        context.cookieJar = jar
        context.delivery = .streamed
        var bodies: [ResponseBody] = []
        for number in 0..<30 {
            let request = HTTPRequest(url: try #require(URL(string: server.url("/\(number)"))))
            bodies.append(try await transport.send(request, context: context).body)
        }
        // None of them has ended.
        #expect((150...350).contains(jar.cookies.count), "\(jar.cookies.count)")
        gate.open()
        for body in bodies { #expect(try await body.collect().count == 2) }
    }

    @Test func `a jar of very many hosts keeps those of the last ones`() {
        let jar = CookieJar()
        for number in 0..<5_000 { jar.set(Cookie(name: "c", value: "1", domain: "h\(number).test\(number)")) }
        let domains = Set(jar.cookies.map(\.domain))
        #expect((3_000...4_200).contains(domains.count), "\(domains.count)")
        #expect((2_500..<5_000).allSatisfy { domains.contains("h\($0).test\($0)") })
    }

    @Test func `who has the most gives way to all others`() {
        let jar = CookieJar()
        for number in 0..<100 { jar.set(Cookie(name: "c\(number)", value: "1", domain: "bank.test")) }
        for number in 0..<5_000 { jar.set(Cookie(name: "c", value: "1", domain: "h\(number).evil.test")) }
        let domains = jar.cookies.map(\.domain)
        #expect(domains.count { $0 == "bank.test" } == 100)
        #expect((2_000...4_200).contains(domains.count { $0.hasSuffix(".evil.test") }))
        #expect(domains.contains("h4999.evil.test"))
    }

    @Test func `a file of very many cookies is read into the same bounds`() {
        let text = (0..<1_000).map { "a.test\tFALSE\t/\tFALSE\t0\tc\($0)\t1\n" }.joined()
        let jar = CookieJar()
        jar.add(netscapeText: text)
        #expect((150...350).contains(jar.cookies.count))
        #expect(jar.cookies.contains { $0.name == "c999" })
    }

    @Test func `what is within the bounds stays, however often it is set`() {
        let jar = CookieJar()
        for round in 0..<50 {
            for number in 0..<40 { jar.set(Cookie(name: "c\(number)", value: "\(round)", domain: "a.test")) }
        }
        #expect(jar.cookies.count == 40)
        #expect(jar.cookies.allSatisfy { $0.value == "49" })
    }

    @Test func `a full jar is not looked through because servers set the same cookies again`() async throws {
        let server = try server { "c\($1)=\($0); Path=/; Max-Age=\(3_600 + $0.count)" }
        let jar = CookieJar()
        for number in 0..<3_000 { jar.set(Cookie(name: "c", value: "1", domain: "h\(number).test\(number)")) }
        try await ask(server, jar, times: 1)
        let looks = jar.looks
        // A thousand, of which no more than 855 went by before somebody looked.
        try await ask(server, jar, times: 25)
        for _ in 0..<1_000 { jar.set(Cookie(name: "own", value: "1", domain: "a.test")) }
        #expect(jar.looks <= looks + 1)
        #expect(jar.cookies.count == 3_041)
        // New ones are counted as before.
        for number in 0..<1_000 { jar.set(Cookie(name: "n", value: "1", domain: "n\(number).test")) }
        #expect(jar.looks > looks)
        #expect(jar.cookies.count < 4_200)
    }
}

import TestServer
import Testing

@testable import NetManager

/// Cookies that servers set and get back.
@Suite struct CookieJarTests {
    /// Sets cookies at `/set`, leads there by way of `/redirect`, and answers with the field that it was sent.
    private func server() throws -> TestServer {
        try TestServer { request in
            let sent = request.headers[values: "Cookie"].joined(separator: " | ")
            let answer = Answer.text(sent)
            switch request.path {
            case "/set":
                return answer.header("Set-Cookie", "a=1; Path=/; HttpOnly").header(
                    "Set-Cookie",
                    "b=2; Path=/below"
                )
            case "/end": return answer.header("Set-Cookie", "a=; Max-Age=0; Path=/")
            case "/redirect": return .redirect(to: "/x").header("Set-Cookie", "r=3")
            default: return answer
            }
        }
    }

    private func manager(_ jar: CookieJar?) -> HTTPSessionManager {
        HTTPSessionManager(CurlTransport()) { $0.cookieJar = jar }
    }

    private func sent(_ manager: HTTPSessionManager, _ url: String, _ headers: HTTPHeaders = [:]) async throws
        -> String
    {
        try await manager.get(url, headers: headers, as: .string)
    }

    @Test func `what a server sets it gets back, by path, until it is ended`() async throws {
        let server = try server()
        let jar = CookieJar()
        let manager = manager(jar)
        #expect(try await sent(manager, server.url("/set")) == "")
        #expect(try await sent(manager, server.url("/x")) == "a=1")
        #expect(try await sent(manager, server.url("/below/x")) == "b=2; a=1")
        // Another host.
        #expect(try await sent(manager, server.url("/x", host: "127.0.0.1")) == "")
        let cookie = try #require(jar.cookies.first { $0.name == "a" })
        #expect(cookie == Cookie(name: "a", value: "1", domain: "localhost", isHTTPOnly: true))
        _ = try await sent(manager, server.url("/end"))
        #expect(try await sent(manager, server.url("/x")) == "")
    }

    @Test func `a Host of the caller's own chooses the cookies of its own request alone`() async throws {
        let server = try server()
        let jar = CookieJar()
        let manager = manager(jar)
        let own: HTTPHeaders = ["Host": "bank.example"]
        #expect(try await sent(manager, server.url("/set"), own) == "")
        #expect(try await sent(manager, server.url("/x"), own) == "a=1")
        for host in ["localhost", "127.0.0.1"] {
            #expect(try await sent(manager, server.url("/x", host: host)) == "")
            #expect(try await sent(manager, server.url("/y", host: host)) == "")
        }
        #expect(jar.cookies.allSatisfy { $0.domain == "bank.example" })
    }

    @Test func `a cookie of a redirect is sent to its goal`() async throws {
        let server = try server()
        #expect(try await sent(manager(CookieJar()), server.url("/redirect")) == "r=3")
    }

    @Test func `without a jar nothing is kept, and jars do not mix`() async throws {
        let server = try server()
        let transport = CurlTransport()
        let jars = [CookieJar(), CookieJar(), nil]
        let managers = jars.map { jar in HTTPSessionManager(transport) { $0.cookieJar = jar } }
        for manager in managers.dropFirst() { _ = try await sent(manager, server.url("/set")) }
        var answers: [String] = []
        for manager in managers { answers.append(try await sent(manager, server.url("/x"))) }
        #expect(answers == ["", "a=1", ""])
    }

    @Test func `one jar serves several transports, and a call may bring its own`() async throws {
        let server = try server()
        let jar = CookieJar()
        _ = try await sent(manager(jar), server.url("/set"))
        var options = RequestOptions()
        options.cookieJar = jar
        let answer = try await manager(CookieJar()).get(server.url("/x"), options: options, as: .string)
        #expect(answer == "a=1")
    }

    @Test func `a field of the caller's own keeps the jar out`() async throws {
        let server = try server()
        let jar = CookieJar()
        let manager = manager(jar)
        _ = try await sent(manager, server.url("/set"))
        #expect(try await sent(manager, server.url("/x"), ["Cookie": "own=1"]) == "own=1")
        #expect(try await sent(manager, server.url("/x")) == "a=1")
    }

    @Test func `a cookie is removed whatever its path looks like`() async throws {
        let paths = ["FALSE", "TRUE", "a/b", "\"/quoted\"", "\"none\"", "", "/", "/end/", "/a%20b", "/FALSE"]
        let server = try TestServer { _ in
            var answer = Answer.text("")
            for (number, path) in paths.enumerated() {
                answer = answer.header("Set-Cookie", "c\(number)=1; Path=\(path)")
            }
            return answer
        }
        let jar = CookieJar()
        let manager = HTTPSessionManager(CurlTransport()) { $0.cookieJar = jar }
        _ = try await manager.get(server.url("/x/y"), as: .string)
        jar.set(Cookie(name: "c0", value: "1", domain: "other.test"))
        #expect(jar.cookies.count == paths.count + 1)
        for cookie in jar.cookies where cookie.domain == "localhost" {
            let count = jar.cookies.count
            jar.remove(cookie)
            #expect(jar.cookies.count == count - 1, "\(cookie.path)")
        }
        #expect(jar.cookies.map(\.domain) == ["other.test"])
    }

    @Test func `a jar takes, replaces and removes cookies`() async throws {
        let server = try server()
        let jar = CookieJar()
        let cookie = Cookie(
            name: "n",
            value: "v",
            domain: "localhost",
            expires: Date(timeIntervalSinceNow: 1_000)
        )
        #expect(jar.set(cookie))
        var other = cookie
        other.value = "w"
        #expect(jar.set(other))
        #expect(jar.cookies.map(\.value) == ["w"])
        #expect(try await sent(manager(jar), server.url("/x")) == "n=w")
        jar.set(Cookie(name: "m", value: "1", domain: "localhost"))
        jar.remove(cookie)
        #expect(jar.cookies.map(\.name) == ["m"])
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test(arguments: [
        Cookie(name: "", value: "v", domain: "h.test"), Cookie(name: "n", value: "v", domain: ""),
        Cookie(name: "n", value: "v\tx", domain: "h.test"), Cookie(name: "n\n", value: "v", domain: "h.test"),
        Cookie(name: "n", value: "v", domain: "h.test", path: "x"),
        Cookie(name: "n", value: "v\0", domain: "h.test"),
    ])
    func `what would make another line of the file is no cookie`(cookie: Cookie) {
        let jar = CookieJar()
        #expect(!jar.set(cookie))
        #expect(jar.cookies.isEmpty)
    }

    @Test func `cookies outlive the jar in a file that only its owner reads`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cookies"
        let cookies: Set<Cookie> = [
            Cookie(name: "session", value: "1", domain: "h.test", isHTTPOnly: true),
            Cookie(
                name: "long",
                value: "a=b c",
                domain: "h.test",
                includesSubdomains: true,
                path: "/p",
                isSecure: true,
                expires: Date(timeIntervalSince1970: 4_000_000_000)
            ),
        ]
        let jar = CookieJar()
        for cookie in cookies { #expect(jar.set(cookie)) }
        try jar.save(to: path)
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies"])
        let read = CookieJar()
        try read.load(contentsOf: path)
        #expect(Set(read.cookies) == cookies)
        #expect(throws: CookieFileError.self) { try read.load(contentsOf: folder.path + "/none") }
        #expect(throws: CookieFileError.self) { try read.save(to: "/nonexistent/x") }
    }

    @Test func `a file that cannot be put in its place leaves nothing of the cookies behind`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/full"
        try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
        let jar = CookieJar()
        #expect(jar.set(Cookie(name: "session", value: "secret", domain: "h.test")))
        let error = #expect(throws: CookieFileError.self) { try jar.save(to: path) }
        #expect(error?.description.contains(path) == true)
        #expect(error?.description.contains("secret") == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["full"])
    }

    @Test(arguments: ["#HttpOnly_e", ".#HttpOnly_e", "..e", "#HttpOnly_#e", "#HttpOnly_..e", "#", ".", ""])
    func `a line of a cookie file whose domain would be read otherwise when written again is none`(
        domain: String
    ) {
        let rest = "\tFALSE\t/\tFALSE\t0\tname\tvalue"
        let expected = domain == "#HttpOnly_e" ? "e" : nil
        #expect(Cookie(netscapeLine: domain + rest)?.domain == expected)
        // What combines with the character before it hides no mark.
        #expect(Cookie(netscapeLine: "#HttpOnly_\u{301}e" + rest)?.isHTTPOnly == true)
        let odd = Cookie(name: "a", value: "b", domain: domain)
        #expect(odd.netscapeLine(expiring: nil) == nil)
    }

    @Test func `a jar is used from many threads at once`() async throws {
        let server = try TestServer { request in
            .text("x").header("Set-Cookie", "c\(request.path.dropFirst())=1; Path=/")
        }
        let jar = CookieJar()
        let managers = (0..<3).map { _ in manager(jar) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    _ = try await sent(managers[number % 3], server.url("/\(number)"))
                    jar.set(Cookie(name: "own\(number)", value: "1", domain: "localhost"))
                    _ = jar.cookies
                }
            }
            try await group.waitForAll()
        }
        #expect(jar.cookies.count == 120)
    }

    @Test func `a jar goes when nobody uses it any more`() async throws {
        let server = try server()
        let transport = CurlTransport()
        weak var left: CookieJar?
        do {
            let jar = CookieJar()
            left = jar
            let manager = HTTPSessionManager(transport) { $0.cookieJar = jar }
            _ = try await sent(manager, server.url("/set"))
        }
        // The engine gives the handle back after it has answered; one more call comes behind that.
        _ = try await sent(HTTPSessionManager(transport), server.url("/x"))
        #expect(left == nil)
    }
}

import NetManager
import TestServer
import Testing

/// The endpoints of httpbin that the other suites do not ask.
@Suite(.gunicorn) struct HTTPBinEndpointTests {
    private func send(
        _ method: HTTPMethod = .get,
        _ target: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody? = nil,
        configure: (inout HTTPSessionManager.Configuration) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        let peer = try GunicornPeer.httpbin
        let url = try #require(URL(string: peer.url(target)))
        let request = HTTPRequest(method, url: url, headers: headers, body: body)
        return try await peer.manager(configure: configure).send(request)
    }

    @Test func `what it says of the client is true`() async throws {
        let manager = try GunicornPeer.httpbin.manager()
        #expect(try await manager.get("ip")["origin"] == "127.0.0.1")
        let agent = try await manager.get("user-agent", headers: ["User-Agent": "a/1 (b)"])
        #expect(agent["user-agent"] == "a/1 (b)")
        #expect(UUID(uuidString: try await manager.get("uuid")["uuid"]?.string ?? "") != nil)
    }

    @Test(arguments: [HTTPMethod.get, .post, .put, .patch, .delete])
    func `any method arrives anywhere, and waits where it is told to`(method: HTTPMethod) async throws {
        let body: HTTPBody? = method == .get ? nil : .data(Data("text".utf8))
        for target in ["/anything/a%2Fb?c=d", "/delay/0?c=d"] {
            let headers: HTTPHeaders = ["Content-Type": "text/plain"]
            let json = try JSONValue(parsing: await send(method, target, headers: headers, body: body).body)
            #expect(json["args"] == ["c": "d"])
            #expect(json["data"] == (body == nil ? "" : "text"))
            if target.hasPrefix("/anything") { #expect(json["method"] == .string(method.rawValue)) }
        }
    }

    @Test(arguments: ["/get", "/html", "/bytes/5", "/stream/3", "/gzip", "/redirect/1"])
    func `HEAD has the head of GET and no content`(target: String) async throws {
        let response = try await send(.head, target)
        #expect(response.head.status == 200)
        #expect(response.body.isEmpty)
    }

    @Test func `bytes arrive as they are, whole and in pieces`() async throws {
        let manager = try GunicornPeer.httpbin.manager()
        // The alphabet again and again. The bytes of /bytes come of one generator that all requests share.
        let alphabet = Data((0..<50_000).map { UInt8(97 + $0 % 26) })
        #expect(try await manager.get("range/50000", as: .data) == alphabet)
        #expect(try await manager.get("range/50000?chunk_size=999", as: .data) == alphabet)
        #expect(try await manager.get("bytes/50000", as: .data).count == 50_000)
        let streamed = try await send(.get, "/stream-bytes/50000?chunk_size=1000")
        #expect(streamed.body.count == 50_000)
        #expect(streamed.head.headers["Transfer-Encoding"] == "chunked")
        #expect(try await manager.get("base64/w7wgJiDDnw==", as: .string) == "ü & ß")
    }

    @Test func `a range in slow pieces is the range`() async throws {
        let target = "/range/1000?duration=0&chunk_size=7"
        let part = try await send(.get, target, headers: ["Range": "bytes=100-299"])
        #expect(part.head.status == 206)
        #expect(part.head.headers["Content-Range"] == "bytes 100-299/1000")
        #expect(part.body.count == 200)
        #expect(part.body.first == UInt8(ascii: "a") + 100 % 26)
    }

    @Test func `a validator asks whether anything is new`() async throws {
        let first = try await send(.get, "/cache")
        #expect(first.head.status == 200)
        let validators = [("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since")]
        for (validator, field) in validators {
            let value = try #require(first.head.headers[validator])
            let again = try await send(.get, "/cache", headers: [field: value])
            #expect(again.head.status == 304)
            #expect(again.body.isEmpty)
        }
        #expect(try await send(.get, "/cache/60").head.headers["Cache-Control"] == "public, max-age=60")
        let etag = "/etag/e"
        #expect(try await send(.get, etag, headers: ["If-Match": "\"other\""]).head.status == 412)
    }

    @Test(arguments: [
        ("/robots.txt", "text/plain", "Disallow: /deny"), ("/deny", "text/plain", "YOU SHOULDN'T BE HERE"),
        ("/forms/post", "text/html", "<form method=\"post\""), ("/html", "text/html", "Herman Melville"),
        ("/links/3/1", "text/html", "<a href='/links/3/0'>0</a>"),
        ("/xml", "application/xml", "<slideshow"), ("/image/svg", "image/svg+xml", "<svg"),
    ])
    func `a document is what it is`(target: String, type: String, part: String) async throws {
        let response = try await send(.get, target)
        #expect(response.head.mediaType?.essence == type)
        #expect(String(decoding: response.body, as: UTF8.self).contains(part))
    }

    @Test(arguments: [
        ("image/png", Data([0x89, 0x50])), ("image/jpeg", Data([0xFF, 0xD8])),
        ("image/webp", Data("RIFF".utf8)),
        ("image/svg+xml", Data("<svg".utf8)),
    ])
    func `an image comes in the type that is accepted`(type: String, start: Data) async throws {
        let response = try await send(.get, "/image", headers: ["Accept": type])
        #expect(response.head.mediaType?.essence == type)
        #expect(response.body.prefix(200).starts(with: start))
        #expect(try await send(.get, "/image", headers: ["Accept": "text/x"]).head.status == 406)
    }

    @Test func `a jar keeps what is set, sends it back, and forgets what is deleted`() async throws {
        let jar = CookieJar()
        let manager = try GunicornPeer.httpbin.manager { $0.cookieJar = jar }
        #expect(try await manager.get("cookies/set?a=b&c=d")["cookies"] == ["a": "b", "c": "d"])
        #expect(try await manager.get("cookies/set/e/f")["cookies"] == ["a": "b", "c": "d", "e": "f"])
        #expect(try await manager.get("cookies/delete?a")["cookies"] == ["c": "d", "e": "f"])
        #expect(Set(jar.cookies.map(\.name)) == ["c", "e"])
        #expect(try await GunicornPeer.httpbin.manager().get("cookies")["cookies"] == [:])
    }

    @Test func `a digest challenge that goes stale is answered anew`() async throws {
        let manager = try GunicornPeer.httpbin.manager {
            $0.authentication = Authentication(user: "user", password: "passwd")
            // The nonce is kept in a cookie.
            $0.cookieJar = CookieJar()
        }
        for _ in 0..<4 {
            let json = try await manager.get("digest-auth/auth/user/passwd/MD5/2")
            #expect(json["authenticated"] == true)
        }
        let other = try await manager.get("digest-auth/auth-int/user/passwd")
        #expect(other["authenticated"] == true)
    }

    @Test func `a redirect of every method leads elsewhere, and its address may be relative`() async throws {
        for (method, status) in [(HTTPMethod.put, 307), (.patch, 308), (.delete, 307)] {
            let response = try await send(
                method,
                "/redirect-to?url=anything/there&status_code=\(status)",
                headers: ["Content-Type": "text/plain"],
                body: .data(Data("text".utf8))
            )
            let json = try JSONValue(parsing: response.body)
            #expect(json["method"] == .string(method.rawValue))
            #expect(json["data"] == "text")
            #expect(response.redirects.map(\.status) == [status])
        }
        let posted = try await send(.post, "/response-headers?X-A=ü")
        #expect(posted.head.status == 200)
    }
}

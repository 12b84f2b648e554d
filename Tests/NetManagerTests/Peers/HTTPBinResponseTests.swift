import NetManager
import TestServer
import Testing

/// What is made of the answers of a server that this project did not write.
@Suite(.gunicorn) struct HTTPBinResponseTests {
    @Test(arguments: [200, 201, 202, 299])
    func `a status of success succeeds`(status: Int) async throws {
        let data = try await GunicornPeer.httpbin.manager().get("status/\(status)", as: .data)
        #expect(data.isEmpty)
    }

    @Test(arguments: [400, 401, 403, 404, 405, 406, 409, 410, 415, 418, 422, 429, 500, 501, 502, 503, 504])
    func `a status of failure fails with its response`(status: Int) async throws {
        let manager = try GunicornPeer.httpbin.manager()
        let error = await requestError { _ = try await manager.get("status/\(status)") }
        guard case .unacceptableStatus(status)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.response?.head.status == status)
        if status == 418 { #expect(error?.response?.body.contains(Data("teapot".utf8)) == true) }
    }

    @Test func `no content is null`() async throws {
        #expect(try await GunicornPeer.httpbin.manager().get("status/204") == .null)
    }

    @Test(arguments: ["redirect/5", "relative-redirect/2", "absolute-redirect/2", "redirect/20"])
    func `redirects are followed`(target: String) async throws {
        let peer = try GunicornPeer.httpbin
        let json = try await peer.manager().get(target)
        #expect(json["url"] == .string(peer.url("/get")))
    }

    @Test func `the twenty-first redirect is not followed`() async throws {
        let manager = try GunicornPeer.httpbin.manager()
        let error = await requestError { _ = try await manager.get("redirect/21") }
        guard case .tooManyRedirects? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirected POST keeps its form where the status says so`(status: Int) async throws {
        let json = try await GunicornPeer.httpbin.manager()
            .post("redirect-to?url=/anything&status_code=\(status)", parameters: ["a": "b"])
        let isKept = status >= 307
        #expect(json["method"] == (isKept ? "POST" : "GET"))
        #expect(json["form"] == (isKept ? ["a": "b"] : [:]))
    }

    @Test func `basic and bearer credentials are accepted, wrong ones are not`() async throws {
        let manager = try GunicornPeer.httpbin.manager()
        var right = HTTPHeaders()
        right.setBasicAuthorization(user: "us er", password: "pass:wörd")
        var wrong = HTTPHeaders()
        wrong.setBasicAuthorization(user: "us er", password: "word")
        let target = "basic-auth/us%20er/pass:w%C3%B6rd"
        #expect(try await manager.get(target, headers: right)["user"] == "us er")
        #expect(try await manager.get("hidden-" + target, headers: right)["user"] == "us er")
        let refusals = [
            await requestError { [wrong] in _ = try await manager.get(target, headers: wrong) },
            await requestError { [wrong] in _ = try await manager.get("hidden-" + target, headers: wrong) },
            await requestError { _ = try await manager.get("bearer") },
        ]
        #expect(refusals.map { $0?.response?.head.status } == [401, 404, 401])
        var bearer = HTTPHeaders()
        bearer.setBearerAuthorization("t0ken")
        #expect(try await manager.get("bearer", headers: bearer)["token"] == "t0ken")
    }

    @Test(arguments: ["auth/user/passwd/MD5", "auth/user/passwd/SHA-256"])
    func `a digest challenge is answered`(target: String) async throws {
        let peer = try GunicornPeer.httpbin
        let right = peer.manager { $0.authentication = Authentication(user: "user", password: "passwd") }
        #expect(try await right.get("digest-auth/\(target)") == ["authenticated": true, "user": "user"])
        let wrong = peer.manager { $0.authentication = Authentication(user: "user", password: "no") }
        let error = await requestError { _ = try await wrong.get("digest-auth/\(target)") }
        #expect(error?.response?.head.status == 401)
    }

    @Test(arguments: [("gzip", "gzipped"), ("deflate", "deflated"), ("brotli", "brotli")])
    func `a coded body is decoded`(target: String, member: String) async throws {
        let json = try await GunicornPeer.httpbin.manager().get(target)
        #expect(json[member] == true)
        #expect(json["headers"]?["Accept-Encoding"]?.string?.contains("gzip") == true)
    }

    @Test func `a range of a body is what was asked for`() async throws {
        let peer = try GunicornPeer.httpbin
        let url = try #require(URL(string: peer.url("/range/26")))
        let part = try await peer.manager().send(HTTPRequest(url: url, headers: ["Range": "bytes=3-7"]))
        #expect(part.head.status == 206)
        #expect(part.head.headers["Content-Range"] == "bytes 3-7/26")
        #expect(part.body == Data("defgh".utf8))
        let beyond = try await peer.manager().send(HTTPRequest(url: url, headers: ["Range": "bytes=26-"]))
        #expect(beyond.head.status == 416)
    }

    @Test func `a delay within the time succeeds, one beyond it times out`() async throws {
        let manager = try GunicornPeer.httpbin.manager()
        #expect(try await manager.get("delay/0")["args"] == [:])
        var options = RequestOptions()
        options.timeout = .milliseconds(300)
        let error = await requestError { [options] in _ = try await manager.get("delay/10", options: options)
        }
        guard case .timedOut? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `lines that are streamed arrive one after the other`() async throws {
        let peer = try GunicornPeer.httpbin
        let url = try #require(URL(string: peer.url("/stream/50")))
        let text = try await peer.manager().stream(HTTPRequest(url: url)) { response in
            var text = Data()
            for try await piece in response.body { text += piece }
            return text
        }
        let numbers = try text.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: $0)["id"] }
        #expect(numbers == (0..<50).map { .int($0) })
        let drip = try await peer.manager().get("drip?numbytes=20&duration=0&delay=0", as: .data)
        #expect(drip == Data(repeating: UInt8(ascii: "*"), count: 20))
    }

    @Test func `documents of other types are refused as JSON and read as what they are`() async throws {
        let manager = try GunicornPeer.httpbin.manager()
        for (target, type) in [("html", "text/html"), ("xml", "application/xml"), ("image/png", "image/png")]
        {
            let error = await requestError { _ = try await manager.get(target) }
            guard case .unacceptableContentType(let refused)? = error?.kind else {
                Issue.record("\(target): \(String(describing: error))")
                continue
            }
            #expect(refused?.hasPrefix(type) == true)
        }
        #expect(try await manager.get("encoding/utf8", as: .string).contains("∮ E⋅da = Q"))
        #expect(try await manager.get("image/png", as: .data).prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
        #expect(try await manager.get("json")["slideshow"]?["slides"]?[1]?["items"]?.array?.count == 2)
    }

    @Test func `fields of a response are kept, repeated ones apart`() async throws {
        let peer = try GunicornPeer.httpbin
        let target = "/response-headers?X-A=one&X-A=two&X-B=%C3%BC"
        let response = try await peer.manager().send(
            HTTPRequest(url: try #require(URL(string: peer.url(target))))
        )
        #expect(response.head.headers[values: "x-a"] == ["one", "two"])
        let url = try #require(URL(string: peer.url("/cookies/set?a=b&c=d")))
        var options = RequestOptions()
        options.redirectPolicy = .stop
        let cookies = try await peer.manager().send(HTTPRequest(url: url), options: options)
        #expect(Set(cookies.head.headers[values: "Set-Cookie"]) == ["a=b; Path=/", "c=d; Path=/"])
        let unchanged = try await peer.manager().send(
            HTTPRequest(
                url: try #require(URL(string: peer.url("/etag/e"))),
                headers: ["If-None-Match": "e"]
            )
        )
        #expect(unchanged.head.status == 304)
        #expect(unchanged.body.isEmpty)
    }

    @Test func `the closures get what await gets`() async throws {
        let manager = try GunicornPeer.httpbin.manager()
        let found: Outcome<JSONValue> = await outcome { success, failure in
            manager.post("post", parameters: ["a": ["b"]], success: success, failure: failure)
        }
        #expect(found.value?["form"] == ["a[]": "b"])
        let missing: Outcome<JSONValue> = await outcome { success, failure in
            manager.get("status/404", success: success, failure: failure)
        }
        #expect(missing.error?.response?.head.status == 404)
    }
}

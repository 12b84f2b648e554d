import NetManager
import TestServer
import Testing

/// What a server that this project did not write reads out of each encoding.
@Suite(.gunicorn) struct HTTPBinEncodingTests {
    private let parameters: JSONValue = [
        "q": "ü 日本 👩‍👩‍👧 &=+%/?#", "empty": "", "flag": true, "none": nil, "number": 1.5,
        "nested": ["list": [1, "two words", nil], "map": ["key[]": "v"]],
    ]
    /// httpbin reads names as they are; those that repeat have a list.
    private let pairs: JSONValue = [
        "q": "ü 日本 👩‍👩‍👧 &=+%/?#", "empty": "", "flag": "1", "none": "", "number": "1.5",
        "nested[list][]": ["1", "two words", ""], "nested[map][key[]]": "v",
    ]

    @Test(arguments: [HTTPMethod.get, .delete])
    func `a query arrives as it was given`(method: HTTPMethod) async throws {
        let manager = try GunicornPeer.httpbin.manager()
        let json =
            method == .get
            ? try await manager.get("get", parameters: parameters)
            : try await manager.delete("delete", parameters: parameters)
        #expect(json["args"] == pairs)
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch])
    func `a form arrives as it was given`(method: HTTPMethod) async throws {
        let manager = try GunicornPeer.httpbin.manager()
        let json =
            switch method {
            case .post: try await manager.post("post", parameters: parameters)
            case .put: try await manager.put("put", parameters: parameters)
            default: try await manager.patch("patch", parameters: parameters)
            }
        #expect(json["form"] == pairs)
        #expect(json["args"] == [:])
        #expect(json["headers"]?["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func `JSON arrives as it was given, numbers to the last digit`() async throws {
        let parameters: JSONValue = [
            "text": "ü \"quoted\" \\ / \n \u{0} 日本 👩‍👩‍👧", "int": .int(.min), "uint": .uint(.max), "double": 0.1,
            "small": .double(.leastNonzeroMagnitude), "flag": false, "none": nil,
            "list": [[], [:], [1, [2, [3]]]],
        ]
        let manager = try GunicornPeer.httpbin.manager { $0.requestSerializer = JSONRequestSerializer() }
        let json = try await manager.post("post", parameters: parameters)
        #expect(json["json"] == parameters)
        #expect(json["headers"]?["Content-Type"] == "application/json")
    }

    @Test func `a form of parameters, data, a file and a stream arrives part by part`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a page.html"
        try Data("<p>file</p>".utf8).write(to: URL(filePath: path))
        var form = MultipartForm()
        form.append(Data("data".utf8), name: "plain")
        form.append(Data([0, 255, 13, 10]), name: "binary", fileName: "b.bin", mimeType: "application/x-bin")
        try form.appendFile(at: path, name: "fi\"le", fileName: "ü \"page\".html")
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        for piece in ["str", "", "eam"] { continuation.yield(Data(piece.utf8)) }
        continuation.finish()
        form.appendStream(stream, length: 6, name: "streamed", fileName: "s.txt", mimeType: "text/plain")

        let json = try await GunicornPeer.httpbin.manager()
            .post("post", parameters: parameters, form: form)
        var fields = try #require(pairs.object)
        fields["plain"] = "data"
        #expect(json["form"] == .object(fields))
        #expect(
            json["files"] == [
                "binary": "data:application/x-bin;base64,AP8NCg==", "fi\"le": "<p>file</p>",
                "streamed": "stream",
            ]
        )
        let length = try #require(json["headers"]?["Content-Length"]?.string.flatMap { Int($0) })
        #expect(length > 1000)
        #expect(json["headers"]?["Transfer-Encoding"] == nil)
    }

    @Test func `a stream of unknown length arrives whole, in chunks`() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        let piece = Data(repeating: UInt8(ascii: "x"), count: 10_000)
        for _ in 0..<20 { continuation.yield(piece) }
        continuation.finish()
        let peer = try GunicornPeer.httpbin
        let url = try #require(URL(string: peer.url("/anything")))
        let request = HTTPRequest(
            .post,
            url: url,
            headers: ["Content-Type": "text/plain"],
            body: .stream(stream)
        )
        let json = try JSONValue(parsing: await peer.manager().send(request).body)
        #expect(json["headers"]?["Transfer-Encoding"] == "chunked")
        #expect(json["data"]?.string?.utf8.count == 200_000)
    }

    @Test func `header fields arrive, the usual ones among them`() async throws {
        let headers: HTTPHeaders = ["X-One": "a, b", "Accept": "text/x; q=0.1"]
        let manager = try GunicornPeer.httpbin.manager { $0.headers = ["X-Two": "two"] }
        let seen = try #require(try await manager.get("headers", headers: headers)["headers"])
        #expect(seen["X-One"] == "a, b")
        #expect(seen["X-Two"] == "two")
        #expect(seen["Accept"] == "text/x; q=0.1")
        #expect(seen["User-Agent"]?.string?.isEmpty == false)
        let cookies = try await manager.get("cookies", headers: ["Cookie": "a=b; c=d-e"])
        #expect(cookies == ["cookies": ["a": "b", "c": "d-e"]])
    }
}

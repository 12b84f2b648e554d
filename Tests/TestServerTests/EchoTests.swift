import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

struct EchoTests {
    @Test func `a request comes back as JSON`() throws {
        let document = try echo(
            "/post?a=1&b=x%20y&b=z",
            "key=%C3%A9+1",
            type: "application/x-www-form-urlencoded"
        )
        #expect(document.method == "POST" && document.target == "/post?a=1&b=x%20y&b=z")
        #expect(document.args["a"] == .one("1") && document.args["b"] == .many(["x y", "z"]))
        #expect(document.form["key"] == .one("é 1") && document.data == "key=%C3%A9+1")
        #expect(document.headers["X-Odd"] == .one("\"quoted\\"))
    }

    @Test func `multipart parts are told apart`() throws {
        let body = """
            --B\r\nContent-Disposition: form-data; name="k"\r\n\r\nv\r\n--B\r\nContent-Disposition: form-data; \
            name="f"; filename="n"\r\nContent-Type: t/x\r\n\r\nData\r\n\r\n--B--\r\n
            """
        let document = try echo("/post", body, type: "multipart/form-data; boundary=B")
        #expect(document.form == ["k": .one("v")] && document.files == ["f": .one("Data\r\n")])
    }

    @Test(arguments: [
        ("/status/418", 418, ""), ("/basic-auth/u/p", 401, ""), ("/hidden-basic-auth/u/p", 404, ""),
        ("/redirect/3", 302, ""), ("/bytes/3", 200, "abc"), ("/stream/2", 200, "{\"id\":1}"),
        ("/range/5", 200, "abcde"), ("/nothing", 404, "not found"), ("/post", 405, ""),
        ("/drip/3", 200, "***"),
        ("/cookies", 200, "{\"cookies\":{}}"), ("/delay/0", 200, "\"method\""), ("/gzip", 200, "\"method\""),
    ])
    func `targets answer with their status`(target: String, status: Int, part: String) throws {
        let server = try TestServer(handler: Echo.handler)
        let client = try TestClient(server)
        client.send("GET \(target) HTTP/1.1\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n")
        let text = client.read(until: target == "/drip/3" ? "***" : nil)
        #expect(text.hasPrefix("HTTP/1.1 \(status) ") && (part.isEmpty || text.contains(part)))
    }
}

/// The members that the tests look at.
private struct Document: Decodable {
    var method: String
    var target: String
    var data: String
    var args: [String: Values]
    var headers: [String: Values]
    var form: [String: Values]
    var files: [String: Values]
}

private enum Values: Decodable, Equatable {
    case one(String)
    case many([String])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            self = .one(value)
        } else {
            self = .many(try container.decode([String].self))
        }
    }
}

private func echo(_ target: String, _ body: String, type: String) throws -> Document {
    let request = ReceivedRequest(
        method: "POST",
        target: target,
        headers: ["Content-Type": type, "X-Odd": "\"quoted\\"],
        body: Data(body.utf8)
    )
    return try JSONDecoder().decode(Document.self, from: Echo.answer(request).body)
}

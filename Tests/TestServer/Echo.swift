import FoundationEssentials
import HTTPMessage

/// A server's handler that says what it received, after the model of httpbin: for samples and tests.
///
/// `/get`, `/post`, `/put`, `/patch`, `/delete` and `/anything…` answer JSON with the members `method`,
/// `target`, `url`, `args`, `headers`, `data` (the body as text; base64 of it in `base64`), `form`, `files` and
/// `json`. A method that does not fit the name is refused with 405. Further:
///
/// | Target | Answer |
/// |---|---|
/// | `/status/N` | the status, no body |
/// | `/redirect/N` | 302, N times, then to `/get` |
/// | `/redirect-to?url=U&status_code=N` | a redirect to anywhere |
/// | `/delay/N` | as `/get`, after N seconds |
/// | `/bytes/N` | N bytes: the alphabet, over and over |
/// | `/range/N` | the same, with ranges |
/// | `/stream/N` | N lines of JSON in chunks |
/// | `/events/N` | N server-sent events |
/// | `/drip/N` | N bytes, each in a write of its own |
/// | `/gzip`, `/deflate` | as `/get`, in that coding |
/// | `/basic-auth/U/P`, `/hidden-basic-auth/U/P` | 200 with these credentials, else 401 or 404 |
/// | `/bearer` | 200 with any bearer token, else 401 |
/// | `/cookies`, `/cookies/set?a=b` | the cookies received; sets cookies and redirects there |
/// | `/response-headers?a=b` | the given header fields |
/// | `/etag/E` | 304 when `If-None-Match` is `"E"` |
/// | `/image`, `/html`, `/xml`, `/json` | a small document of the kind |
/// | `/flaky/N` | 503 to the first N requests of each connection, then as `/get` |
public enum Echo {
    /// The handler: `try TestServer(handler: Echo.handler)`.
    public static let handler: TestServer.Handler = { answer($0) }

    /// The answer for a request.
    public static func answer(_ request: ReceivedRequest) -> Answer {
        let words = request.path.split(separator: "/").map(String.init)
        guard let first = words.first else { return .text("hello") }
        let rest = Array(words.dropFirst())
        return echo(first, request) ?? simple(first, rest, request) ?? conditional(first, rest, request)
            ?? .json(JSONText.object([("error", .string("not found"))]).text, status: 404)
    }

    private static func echo(_ name: String, _ request: ReceivedRequest) -> Answer? {
        switch name {
        case "anything": break
        case "get": guard ["GET", "HEAD"].contains(request.method) else { return .status(405) }
        case "post", "put", "patch", "delete":
            guard request.method == name.uppercased() else { return .status(405) }
        default: return nil
        }
        return .json(description(of: request).text)
    }

    private static func simple(_ name: String, _ rest: [String], _ request: ReceivedRequest) -> Answer? {
        let number = rest.first.flatMap { Int($0) } ?? 0
        let echo = description(of: request).text
        switch name {
        case "status": return .status(number)
        case "delay": return .script([.pause(.seconds(number)), .answer(.json(echo))])
        case "bytes": return .bytes(number)
        case "stream":
            let lines = (0..<number).map { JSONText.object([("id", .number($0))]).text + "\n" }
            return .json(lines.joined()).chunked(lines.first?.utf8.count ?? 1)
        case "events":
            let events = (0..<number).map { "id: \($0)\ndata: event \($0)\n\n" }.joined()
            return .data(Data(events.utf8), type: "text/event-stream").chunked()
        case "drip":
            let head = "HTTP/1.1 200 ok\r\nContent-Type: text/plain\r\nContent-Length: \(number)\r\n\r\n"
            return .script([.send(head), .sendSlowly(String(repeating: "*", count: number))])
        case "gzip": return .encoded("gzip", StoredDeflate.gzip(Data(echo.utf8)), type: "application/json")
        case "deflate":
            return .encoded("deflate", StoredDeflate.zlib(Data(echo.utf8)), type: "application/json")
        case "image": return .data(Data(tinyPNG), type: "image/png")
        case "html": return .data(Data("<!doctype html><p>hello</p>".utf8), type: "text/html; charset=utf-8")
        case "xml":
            return .data(Data("<?xml version=\"1.0\"?><a b=\"c\">hello</a>".utf8), type: "application/xml")
        case "json": return .json("{\"a\":1,\"b\":[true,null],\"c\":\"d\"}")
        case "flaky": return request.indexOnConnection < number ? .status(503) : .json(echo)
        default: return nil
        }
    }

    private static func conditional(_ name: String, _ rest: [String], _ request: ReceivedRequest) -> Answer? {
        let query = FormText.pairs(request.query ?? "")
        switch name {
        case "redirect":
            let number = rest.first.flatMap { Int($0) } ?? 1
            return .redirect(to: number > 1 ? "/redirect/\(number - 1)" : "/get")
        case "redirect-to":
            let target = query.first { $0.name == "url" }?.value ?? "/get"
            let status = query.first { $0.name == "status_code" }.flatMap { Int($0.value) }
            return .redirect(to: target, status: status ?? 302)
        case "basic-auth", "hidden-basic-auth":
            let credentials = Data(rest.prefix(2).joined(separator: ":").utf8).base64EncodedString()
            if request.headers["Authorization"] == "Basic \(credentials)" {
                return .json(JSONText.object([("authenticated", .bool(true))]).text)
            }
            guard name == "basic-auth" else { return .status(404) }
            return .status(401).header("WWW-Authenticate", "Basic realm=\"Fake Realm\"")
        case "bearer":
            let value = request.headers["Authorization"] ?? ""
            guard value.hasPrefix("Bearer ") else { return .status(401).header("WWW-Authenticate", "Bearer") }
            return .json(JSONText.object([("token", .string(String(value.dropFirst(7))))]).text)
        case "cookies":
            if rest.first == "set" {
                return query.reduce(.redirect(to: "/cookies")) {
                    $0.header("Set-Cookie", "\($1.name)=\($1.value); Path=/")
                }
            }
            let pairs = request.headers[values: "Cookie"].flatMap { $0.split(separator: ";") }
            let cookies = pairs.map { FormText.pair($0.trimmingOptionalWhitespace, decoding: false) }
            return .json(JSONText.object([("cookies", .grouped(cookies))]).text)
        case "response-headers":
            return query.reduce(.json(JSONText.grouped(query).text)) { $0.header($1.name, $1.value) }
        case "etag":
            let tag = "\"\(rest.first ?? "")\""
            let isKnown = request.headers["If-None-Match"] == tag
            let answer: Answer = isKnown ? .status(304) : .json(description(of: request).text)
            return answer.header("ETag", tag)
        case "range": return range(rest.first.flatMap { Int($0) } ?? 0, request)
        default: return nil
        }
    }

    /// A part of the alphabet, over and over (RFC 9110, section 14): one range of the form `bytes=FROM-TO`.
    private static func range(_ length: Int, _ request: ReceivedRequest) -> Answer {
        let alphabet = Data((0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        let whole = Answer.data(alphabet, type: "application/octet-stream")
            .header("Accept-Ranges", "bytes")
            .header("ETag", "\"range\(length)\"")
        guard let text = request.headers["Range"], text.hasPrefix("bytes=") else { return whole }
        let bounds = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let from = Int(bounds[0]) else { return whole }
        let to = min(Int(bounds[1]) ?? length - 1, length - 1)
        guard from <= to else { return .status(416).header("Content-Range", "bytes */\(length)") }
        return whole.header("Content-Range", "bytes \(from)-\(to)/\(length)").with {
            $0.status = 206
            $0.body = alphabet.subdata(in: from..<to + 1)
        }
    }

    /// One transparent pixel.
    private static let tinyPNG: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0,
        0, 1,
        8, 4, 0, 0, 0, 0xB5, 0x1C, 0x0C, 2, 0, 0, 0, 11, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x64, 0x60,
        0, 0,
        0, 6, 0, 2, 0x30, 0x81, 0xD0, 0x2F, 0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
}

import BenchmarkSupport
import NetManager

/// Single pieces of work, each over its size: `BenchmarkMicro CHAIN.pem`, the chain leaf first and its root last.
@main
struct Micro {
    static func main() async throws {
        try judgeChain()
        encodeForms()
        readAndWriteJSON()
        readHeaders()
        makeRequests()
    }

    /// What a TLS handshake adds, over the number of pins.
    private static func judgeChain() throws {
        guard CommandLine.arguments.count > 1 else { return }
        let chain = try Certificate.load(contentsOf: CommandLine.arguments[1])
        guard let root = chain.last else { return }
        let trust = ServerTrust(certificates: chain)
        for count in [1, 10, 100] {
            let other = (1..<count).compactMap {
                PublicKeyPin(String(repeating: "0", count: 60) + "\(1000 + $0)")
            }
            let policy = SecurityPolicy(
                pinningMode: .publicKey,
                pinnedCertificates: [root],
                pinnedPublicKeys: Set(other),
                trustAnchors: .certificates([root])
            )
            Stopwatch.print("policy-evaluate", size: count) {
                (try? policy.evaluate(trust, forDomain: "localhost")) != nil
            }
        }
        let system = SecurityPolicy(trustAnchors: .systemAnd([root]))
        Stopwatch.print("policy-evaluate-system", size: chain.count) {
            (try? system.evaluate(trust, forDomain: "localhost")) != nil
        }
    }

    private static func encodeForms() {
        for count in [1, 10, 100, 1000] {
            let members = (0..<count).map {
                ("name\($0)", JSONValue.string("a value with spaces & ümlauts \($0)"))
            }
            let parameters = JSONValue.object(Dictionary(uniqueKeysWithValues: members))
            let serializer = FormRequestSerializer()
            Stopwatch.print("form-encode", size: count) {
                (try? serializer.query(from: parameters)) != nil
            }
        }
    }

    private static func readAndWriteJSON() {
        for sample in JSONSample.allCases {
            for size in JSONSample.sizes {
                let text = sample.text(ofSize: size)
                Stopwatch.print("json-parse-\(sample)", size: text.count) {
                    (try? JSONValue(parsing: text)) != nil
                }
            }
        }
        for size in JSONSample.sizes {
            let text = JSONSample.records.text(ofSize: size)
            guard let tree = try? JSONValue(parsing: text) else { return }
            Stopwatch.print("json-write-records", size: text.count) { (try? tree.data()) != nil }
            decodeJSON(text)
        }
    }

    /// Into types: straight from the text, as a response is read, and by way of a tree.
    private static func decodeJSON(_ text: Data) {
        let decoder = JSONDecoder()
        Stopwatch.print("json-decode-records", size: text.count) {
            (try? decoder.decode([JSONRecord].self, from: text)) != nil
        }
        Stopwatch.print("json-decode-tree-records", size: text.count) {
            (try? JSONValue(parsing: text).decode([JSONRecord].self)) != nil
        }
    }

    private static func readHeaders() {
        for count in [1, 10, 100] {
            let lines = (0..<count).map { "X-Field-\($0): the value of number \($0)\r\n" }
            let text = Array(("HTTP/1.1 200 OK\r\n" + lines.joined() + "\r\n").utf8)
            guard let url = URL(string: "http://localhost/") else { return }
            Stopwatch.print("headers-parse", size: count) {
                HTTPResponse.Head.parsing(text, url: url)?.headers.count == count
            }
        }
    }

    /// From the call to the request as it would be sent, over the number of header fields.
    private static func makeRequests() {
        for count in [0, 10, 100] {
            let headers = HTTPHeaders(
                fields: (0..<count).map { .init(name: "X-Field-\($0)", value: "value \($0)") }
            )
            let serializer = FormRequestSerializer()
            guard let url = URL(string: "https://api.example.com/v1/users") else { return }
            Stopwatch.print("request-build", size: count) {
                var request = HTTPRequest(url: url, headers: headers)
                try? serializer.serialize(["page": 1, "q": "x y"], into: &request)
                return request.url != url && request.headers.count == count
            }
        }
    }
}

public import FoundationEssentials
import HTTPMessage
import NetManager
import Serializers

extension Recording {
    /// The number of the format, which changes when older versions of the library could not read it.
    private static let format: JSONValue = 1

    /// Reads the JSON that ``data()`` writes.
    /// - Throws: ``Malformed`` with the place of the fault.
    public init(parsing data: Data) throws {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: data)
        } catch {
            throw Malformed(description: "The recording is no JSON: \(error)")
        }
        guard json["format"] == Self.format, let list = json["exchanges"]?.array else {
            throw Malformed(
                description: "The recording has no format that this version of the library reads."
            )
        }
        for (index, element) in list.enumerated() {
            guard let exchange = Exchange(json: element) else {
                throw Malformed(description: "Exchange \(index) of the recording is none.")
            }
            exchanges.append(exchange)
        }
    }

    /// The recording as JSON, with sorted names and one member a line.
    /// - Throws: Nothing in practice: every recording can be written.
    public func data() throws -> Data {
        let json: JSONValue = ["format": Self.format, "exchanges": .array(exchanges.map(\.json))]
        return try json.data([.sortedKeys, .prettyPrinted]) + Data("\n".utf8)
    }
}

extension Recording.Exchange {
    fileprivate init?(json: JSONValue) {
        guard let request = json["request"], let method = request["method"]?.string,
            let url = request["url"]?.string, let headers = HTTPHeaders(json: request["headers"]),
            let body = Data(json: request["body"]), let outcome = Recording.Outcome(json: json)
        else { return nil }
        self.init(
            method: HTTPMethod(rawValue: method),
            url: url,
            requestHeaders: headers,
            requestBody: body,
            outcome: outcome
        )
    }

    fileprivate var json: JSONValue {
        let request = JSONValue.members(
            ("method", .string(method.rawValue)),
            ("url", .string(url)),
            ("headers", requestHeaders.json),
            ("body", requestBody.json)
        )
        switch outcome {
        case .response(let status, let headers, let body, let version):
            let response = JSONValue.members(
                ("status", JSONValue(status)),
                ("version", .string(version.rawValue)),
                ("headers", headers.json),
                ("body", body.json)
            )
            return ["request": request, "response": response]
        case .failure(let label):
            return ["request": request, "failure": .string(label)]
        }
    }
}

extension Recording.Outcome {
    fileprivate init?(json: JSONValue) {
        if let label = json["failure"]?.string {
            guard RequestError.Kind(label: label) != nil else { return nil }
            self = .failure(label: label)
            return
        }
        guard let response = json["response"], let status = response["status"]?.int,
            (100...999).contains(status),
            let version = response["version"]?.string.flatMap(HTTPVersion.init(rawValue:)),
            let headers = HTTPHeaders(json: response["headers"]), let body = Data(json: response["body"])
        else { return nil }
        self = .response(status: status, headers: headers, body: body, version: version)
    }
}

extension HTTPHeaders {
    /// A list of pairs; nil stands for none at all.
    fileprivate init?(json: JSONValue?) {
        self.init()
        for pair in json?.array ?? [] {
            guard let name = pair[0]?.string, let value = pair[1]?.string else { return nil }
            add(value, for: name)
        }
    }

    fileprivate var json: JSONValue? {
        fields.isEmpty ? nil : .array(fields.map { [.string($0.name), .string($0.value)] })
    }
}

extension Data {
    /// Text, or base64 in an object of that name; nil stands for none at all.
    fileprivate init?(json: JSONValue?) {
        guard let json else {
            self.init()
            return
        }
        if let text = json.string {
            self.init(text.utf8)
            return
        }
        guard let text = json["base64"]?.string else { return nil }
        self.init(base64Encoded: text)
    }

    fileprivate var json: JSONValue? {
        if isEmpty { return nil }
        if let text = String(validating: self, as: UTF8.self) { return .string(text) }
        return ["base64": .string(base64EncodedString())]
    }
}

extension JSONValue {
    /// An object of the members that are there.
    fileprivate static func members(_ members: (String, JSONValue?)...) -> JSONValue {
        .object(members.reduce(into: [:]) { $0[$1.0] = $1.1 })
    }
}

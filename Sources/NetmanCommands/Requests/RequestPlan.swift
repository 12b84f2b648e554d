import FoundationEssentials
import HTTPMessage
import Serializers

/// The request that a command line asks for: a pure function of its words.
struct RequestPlan: Sendable {
    /// How parameters are written into a body.
    enum BodyStyle: Sendable { case json, form, multipart }

    var request: HTTPRequest

    /// Makes the request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The URL; `https://` is put before one without a scheme, and `:8080/path` is on localhost.
    ///   - items: Fields, parameters and files.
    ///   - style: How parameters are written into a body.
    ///   - baseHeaders: Fields that the items may replace.
    /// - Throws: ``CommandFailure``, or what a serializer says.
    init(
        method: HTTPMethod,
        target: String,
        items: [RequestItem],
        style: BodyStyle = .json,
        baseHeaders: HTTPHeaders = [:]
    ) throws {
        guard let url = Self.url(target) else {
            throw CommandFailure.usage("\(Printable.text(target)) is no URL with the scheme https or http")
        }
        request = HTTPRequest(method, url: url, headers: baseHeaders)
        var parameters: [String: JSONValue] = [:]
        var query: [String: JSONValue] = [:]
        var files: [(name: String, path: String)] = []
        var bodyPath: String?
        for item in items {
            switch item {
            case .header(let name, let value): Self.set(name, value, in: &request.headers)
            case .query(let name, let value): try Self.add(.string(value), for: name, to: &query)
            case .text(let name, let value): try Self.add(.string(value), for: name, to: &parameters)
            case .json(let name, let text):
                try Self.add(Self.json(text, of: name), for: name, to: &parameters)
            case .file(let name, let path): files.append((name, path))
            case .body(let path):
                guard bodyPath == nil else {
                    throw CommandFailure.usage("there is one body, and two files for it")
                }
                bodyPath = path
            }
        }
        let hasBody = ![.get, .head].contains(method)
        if !query.isEmpty { try Self.addQuery(query, to: &request) }
        if let bodyPath {
            guard hasBody, parameters.isEmpty, files.isEmpty else {
                throw CommandFailure.usage(
                    "@\(bodyPath) is the whole body: no other parameters, and no GET or HEAD"
                )
            }
            request.body = .file(bodyPath)
            if request.headers["Content-Type"] == nil {
                request.headers["Content-Type"] = "application/octet-stream"
            }
            return
        }
        if !files.isEmpty || style == .multipart {
            guard hasBody else { throw CommandFailure.usage("\(method) sends no files") }
            try addForm(parameters, files)
        } else if !parameters.isEmpty {
            switch style {
            case .json where hasBody && method != .delete:
                try JSONRequestSerializer().serialize(.object(parameters), into: &request)
            default: try FormRequestSerializer().serialize(.object(parameters), into: &request)
            }
        }
    }

    private mutating func addForm(_ parameters: [String: JSONValue], _ files: [(name: String, path: String)])
        throws
    {
        var form = MultipartForm()
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            form.append(Data((value.string ?? "\(value)").utf8), name: name)
        }
        for (name, path) in files { try form.appendFile(at: path, name: name) }
        try form.serialize(into: &request)
    }

    /// A query of one's own, whatever the method.
    private static func addQuery(_ query: [String: JSONValue], to request: inout HTTPRequest) throws {
        var serializer = FormRequestSerializer()
        serializer.methodsEncodingParametersInURL = [request.method]
        // Only the URL is wanted: a serializer that writes into the URL adds no body.
        var carrier = HTTPRequest(request.method, url: request.url)
        try serializer.serialize(.object(query), into: &carrier)
        request.url = carrier.url
    }

    /// Names that are given again make a list.
    private static func add(_ value: JSONValue, for name: String, to object: inout [String: JSONValue]) throws
    {
        guard let old = object[name] else {
            object[name] = value
            return
        }
        object[name] = .array((old.array ?? [old]) + [value])
    }

    private static func set(_ name: String, _ value: String, in headers: inout HTTPHeaders) {
        if value.isEmpty { headers.remove(name) } else { headers[name] = value }
    }

    private static func json(_ text: String, of name: String) throws(CommandFailure) -> JSONValue {
        do {
            return try JSONValue(parsing: text)
        } catch {
            throw .usage("\(name):= needs JSON: \(error)")
        }
    }

    /// The URL of a target.
    static func url(_ target: String) -> URL? {
        var text = target
        if text.hasPrefix(":"), !text.hasPrefix("://") {
            let rest = text.dropFirst()
            text = "http://localhost" + (rest.first?.isNumber == true ? ":" : "") + rest
        } else if !text.lowercased().hasPrefix("http://"), !text.lowercased().hasPrefix("https://") {
            guard !text.contains("://") else { return nil }
            text = "https://" + text
        }
        guard let url = URL(string: text), url.host?.isEmpty == false else { return nil }
        return url
    }
}

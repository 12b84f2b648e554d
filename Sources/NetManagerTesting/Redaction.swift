import FoundationEssentials
import HTTPMessage
import NetManager
import Serializers

/// What is taken out of a recording before it is written: a file that is committed must hold no secret.
///
/// Names decide. By default the values of header fields and query items are replaced whose names speak of credentials
/// (`Authorization`, `Cookie`, `Set-Cookie`, `X-Api-Key`, `access_token`…), user info in URLs, and members of JSON
/// bodies and items of form bodies with such names. URLs in `Location`, `Content-Location` and `Referer` are treated
/// like the request's. It is a guess by names: bodies of other types are kept as they are, unless ``further`` takes
/// something out of them.
public struct Redaction: Sendable {
    /// What stands where a secret was.
    public static let mark = "<redacted>"

    /// What the description says.
    public static let standard = Redaction()
    /// Nothing is taken out.
    public static var none: Redaction {
        var redaction = Redaction()
        redaction.isOn = false
        return redaction
    }

    /// More names of fields, query items and members whose values are secrets, in any case; none by default.
    public var names: Set<String> = []
    /// Takes out what the names do not tell; nil by default.
    public var further: (@Sendable (inout Recording.Exchange) -> Void)?
    private var isOn = true

    /// Makes what ``standard`` is.
    public init() {}

    /// Takes the secrets out of an exchange; what has none left is left as it is.
    public func apply(to exchange: inout Recording.Exchange) {
        guard isOn else { return }
        exchange.url = redacted(url: exchange.url)
        exchange.requestBody = redacted(body: exchange.requestBody, exchange.requestHeaders)
        exchange.requestHeaders = redacted(exchange.requestHeaders)
        if case .response(let status, let headers, let body, let version) = exchange.outcome {
            exchange.outcome = .response(
                status: status,
                headers: redacted(headers),
                body: redacted(body: body, headers),
                version: version
            )
        }
        further?(&exchange)
    }

    private func redacted(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(
            fields: headers.fields.map { field in
                if ["location", "content-location", "referer"].contains(field.name.asciiLowercased) {
                    return HTTPHeaders.Field(name: field.name, value: redacted(url: field.value))
                }
                let isSecret = SecretNames.match(field.name) || isNamed(field.name)
                return isSecret ? HTTPHeaders.Field(name: field.name, value: Self.mark) : field
            }
        )
    }

    private func redacted(url text: String) -> String {
        SecretNames.redacted(text) { SecretNames.match($0) || isNamed($0) }
    }

    private func redacted(body: Data, _ headers: HTTPHeaders) -> Data {
        guard !body.isEmpty, let type = headers["Content-Type"].flatMap(MediaType.init) else { return body }
        if type.essence == "application/x-www-form-urlencoded" {
            let text = String(decoding: body, as: UTF8.self)
            return Data(SecretNames.redacted(items: text, where: isSecretInBody).utf8)
        }
        let isJSON = type.subtype == "json" || type.subtype.hasSuffix("+json")
        guard isJSON, let json = try? JSONValue(parsing: body) else { return body }
        let redacted = redacted(json)
        // Nothing was found: the bytes stay as the server wrote them.
        guard redacted != json, let data = try? redacted.data() else { return body }
        return data
    }

    private func redacted(_ json: JSONValue) -> JSONValue {
        switch json {
        case .array(let elements):
            return .array(elements.map(redacted))
        case .object(let members):
            return .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, value in
                        (name, isSecretInBody(name) ? Self.emptied(value) : redacted(value))
                    }
                )
            )
        default:
            return json
        }
    }

    /// The same shape without what was in it, so that it can still be decoded.
    private static func emptied(_ json: JSONValue) -> JSONValue {
        switch json {
        case .null, .bool: json
        case .int, .uint, .double: 0
        case .string: .string(mark)
        case .array(let elements): .array(elements.map(emptied))
        case .object(let members): .object(members.mapValues(emptied))
        }
    }

    private func isNamed(_ name: some StringProtocol) -> Bool {
        names.contains { $0.equalsIgnoringASCIICase(String(name)) }
    }

    /// Bodies have many more names than header sections: the words of a name count here, and no parts of words, so
    /// that an author is not taken for an authorization.
    private func isSecretInBody(_ name: String) -> Bool {
        isNamed(name) || NameWords.areSecret(name)
    }
}

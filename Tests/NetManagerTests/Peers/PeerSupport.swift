import NetManager
import TestServer
import Testing

extension GunicornPeer {
    /// A manager whose relative URLs lead here.
    func manager(
        configure: (inout HTTPSessionManager.Configuration) -> Void = { _ in }
    ) -> HTTPSessionManager {
        var configuration = HTTPSessionManager.Configuration(baseURL: URL(string: url()))
        configure(&configuration)
        return HTTPSessionManager(configuration, transport: CurlTransport())
    }
}

extension JSONValue {
    /// The tree with every value as the text that a form has for it.
    var asTexts: JSONValue {
        switch self {
        case .null: ""
        case .bool(let flag): flag ? "1" : "0"
        case .int(let number): .string(String(number))
        case .uint(let number): .string(String(number))
        case .double(let number): .string(String(number))
        case .string: self
        case .array(let elements): .array(elements.map(\.asTexts))
        case .object(let members): .object(members.mapValues(\.asTexts))
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests against what `scripts/test --peers` installs.
    static var gunicorn: Self {
        .enabled(if: GunicornPeer.isInstalled, "gunicorn is installed by scripts/test --peers")
    }
}

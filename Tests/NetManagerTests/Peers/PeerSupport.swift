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

extension Trait where Self == ConditionTrait {
    /// For tests against what `scripts/test` installs.
    static var gunicorn: Self {
        .enabled(if: GunicornPeer.isInstalled, "gunicorn is installed by scripts/test")
    }
}

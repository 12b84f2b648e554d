import FoundationEssentials
import HTTPMessage
import SecurityPolicy

/// The proxy of one request, as libcurl is told of it.
struct ResolvedProxy: Hashable {
    /// Apart, as it takes 170 bytes, is in each transfer and handle more than once, and there is mostly no proxy.
    private enum Way: Hashable {
        case direct
        indirect case through(Peer)
    }

    private struct Peer: Hashable {
        var url = ""
        var host = ""
        var port = 0
        var credentials: Proxy.Credentials?
        var policy: SecurityPolicy?
    }

    private var way = Way.direct

    private var peer: Peer? {
        if case .through(let peer) = way { peer } else { nil }
    }

    /// The proxy's URL; empty for none.
    var url: String { peer?.url ?? "" }
    /// The proxy's host, for its policy.
    var host: String { peer?.host ?? "" }
    /// The proxy's port.
    var port: Int { peer?.port ?? 0 }
    var credentials: Proxy.Credentials? { peer?.credentials }
    /// The policy that the proxy itself must pass; nil when there is no TLS to it.
    var policy: SecurityPolicy? { peer?.policy }

    /// No proxy.
    init() {}

    /// Finds the proxy for a scheme and a host; none for a host that is excepted.
    /// - Throws: ``TransferFailure/invalidConfiguration(_:)`` for a proxy that cannot be used safely.
    init(
        _ proxy: Proxy,
        scheme: String,
        host target: String,
        environment: [String: String]
    ) throws(TransferFailure) {
        guard proxy.kind != .none else { return }
        if proxy.kind == .environment {
            guard let url = try Self.url(in: environment, scheme: scheme, host: target) else { return }
            let parts = URL(string: url.contains("://") ? url : "http://" + url)
            var peer = Peer(url: url, host: parts?.host()?.asciiLowercased ?? "")
            // libcurl's default (CURL_DEFAULT_PROXY_PORT).
            peer.port = parts?.port ?? 1080
            peer.credentials = proxy.credentials
            way = .through(peer)
            return
        }
        guard !proxy.host.isEmpty, (1...65_535).contains(proxy.port) else {
            throw .invalidConfiguration("a proxy needs a host and a port between 1 and 65535")
        }
        guard !proxy.host.utf8.contains(where: { "/@".utf8.contains($0) }) else {
            throw .invalidConfiguration(
                "a proxy's host is a name or an address, without scheme, user and path"
            )
        }
        guard !ProxyExceptions(proxy.exceptions.joined(separator: ",")).cover(target) else { return }
        let host = proxy.host.contains(":") && !proxy.host.hasPrefix("[") ? "[\(proxy.host)]" : proxy.host
        let address = "\(host):\(proxy.port)"
        var peer = Peer(host: proxy.host.asciiLowercased, credentials: proxy.credentials)
        switch proxy.kind {
        case .http: peer.url = "http://\(address)"
        case .https(let policy):
            peer.url = "https://\(address)"
            peer.policy = policy
        // The h lets the proxy resolve the name, so that no look-up gives away where a request goes.
        case .socks5: peer.url = "socks5h://\(address)"
        case .none, .environment: break
        }
        peer.port = proxy.port
        way = .through(peer)
    }

    /// Whether a message of libcurl's may repeat the proxy's URL together with the password in it.
    func mayBeQuoted(in message: String) -> Bool {
        url.utf8.contains(UInt8(ascii: "@")) && message.contains("proxy")
    }

    /// Reads the variables that curl reads; `HTTP_PROXY` in capitals is none of them, since a CGI server sets it from
    /// a request's `Proxy` field.
    /// - Returns: The proxy's URL; nil for none.
    private static func url(
        in environment: [String: String],
        scheme: String,
        host target: String
    ) throws(TransferFailure) -> String? {
        let names =
            ["\(scheme)_proxy"] + (scheme == "https" ? ["HTTPS_PROXY"] : []) + ["all_proxy", "ALL_PROXY"]
        guard let value = names.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else {
            return nil
        }
        let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        guard !ProxyExceptions(exceptions).cover(target) else { return nil }
        guard !value.lowercased().hasPrefix("https://") else {
            throw .invalidConfiguration(
                "the environment names an https proxy, for which there is no policy; use Proxy.https instead"
            )
        }
        return value
    }

    /// Whether the proxy speaks HTTP, and can ask who is there.
    var speaksHTTP: Bool { !url.isEmpty && !url.asciiLowercased.hasPrefix("socks") }

    /// What the proxy asks in the head of its refusal; nil when it is none.
    func challenge(_ head: HTTPResponse.Head) -> ProxyChallenge? {
        guard head.status == 407, speaksHTTP else { return nil }
        return ProxyChallenge(
            head: head,
            host: host,
            port: port,
            isSecure: policy != nil,
            hadCredentials: credentials != nil || url.utf8.contains(UInt8(ascii: "@"))
        )
    }
}

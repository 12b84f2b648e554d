import NetManager
import TestServer
import Testing

/// Whatever is a secret stays with the server that it is for: seen in the bytes that another server gets.
@Suite struct CredentialOriginTests {
    /// Every way in which a caller can give credentials, each with a value of its own.
    private enum Credential: String, CaseIterable, Sendable {
        case managersField = "s3cret-1"
        case managersOwnField = "s3cret-2"
        case callsField = "s3cret-3"
        case cookieField = "s3cret-4"
        case proxyField = "s3cret-5"
        case userInfo = "s3cret-6"
        case basic = "s3cret-7"
        case digest = "s3cret-8"
        case cookieJar = "s3cret-9"
    }

    /// Calls a URL that redirects elsewhere with a credential.
    private func call(
        _ credential: Credential,
        _ method: HTTPMethod,
        host: String,
        _ server: TestServer
    ) async throws {
        let secret = credential.rawValue
        var configuration = HTTPSessionManager.Configuration()
        var url = server.url("/first", host: host)
        var headers = HTTPHeaders()
        switch credential {
        case .managersField: configuration.headers["Authorization"] = "Bearer \(secret)"
        case .managersOwnField: configuration.headers["X-Api-Key"] = secret
        case .callsField: headers["Authorization"] = "Bearer \(secret)"
        case .cookieField: headers["Cookie"] = "session=\(secret)"
        case .proxyField: headers["Proxy-Authorization"] = "Basic \(secret)"
        case .userInfo: url = url.replacing("http://", with: "http://\(secret):\(secret)@")
        case .basic:
            configuration.authentication = Authentication(user: secret, password: secret, schemes: .basic)
        case .digest: configuration.authentication = Authentication(user: secret, password: secret)
        case .cookieJar:
            let jar = CookieJar()
            jar.add(netscapeText: "\(host)\tFALSE\t/\tFALSE\t0\tsession\t\(secret)\n")
            configuration.cookieJar = jar
        }
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        let parameters: JSONValue? = method == .post ? ["a": "b"] : nil
        let answer =
            method == .post
            ? try await manager.post(url, parameters: parameters, headers: headers)
            : try await manager.get(url, headers: headers)
        #expect(answer == "other")
    }

    private func shows(_ credential: Credential, _ request: ReceivedRequest) -> Bool {
        let head = String(decoding: request.rawHead, as: UTF8.self)
        // Base64 of user and password, as basic authentication writes them.
        let pair = Data("\(credential.rawValue):\(credential.rawValue)".utf8).base64EncodedString()
        return head.contains(credential.rawValue) || head.contains(pair)
    }

    @Test(arguments: Credential.allCases, [HTTPMethod.get, .post])
    private func `no credential crosses an origin, to another port or another host`(
        credential: Credential,
        method: HTTPMethod
    ) async throws {
        let other = try TestServer { request in
            // A challenge makes a client show what it would.
            guard request.path == "/asks", request.headers["Authorization"] == nil else {
                return .json(#""other""#)
            }
            return .redirect(to: "/other")
        }
        for (host, otherHost) in [("localhost", "localhost"), ("localhost", "127.0.0.1")] {
            // Cookies know no ports (RFC 6265, section 8.5).
            if credential == .cookieJar, host == otherHost { continue }
            for status in [301, 302, 303, 307, 308] {
                let server = try TestServer { request in
                    if credential == .digest, request.headers["Authorization"] == nil {
                        return Answer.status(401).header(
                            "WWW-Authenticate",
                            #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
                        )
                    }
                    if request.path == "/first" { return .redirect(to: "/second", status: status) }
                    return .redirect(to: other.url("/asks", host: otherHost), status: status)
                }
                try await call(credential, method, host: host, server)
                // The credential was used at all, also after a redirect within the origin.
                #expect(server.requests.last.map { shows(credential, $0) } == true)
                #expect(server.requests.last?.path == "/second")
            }
        }
        #expect(other.requests.count >= 5)
        for request in other.requests { #expect(!shows(credential, request)) }
    }
}

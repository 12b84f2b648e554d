import FoundationEssentials
import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// What the tests of the engine ask for again and again.
extension CurlTransport {
    func fetch(
        _ url: String,
        headers: HTTPHeaders = [:],
        policy: SecurityPolicy = .default,
        identity: ClientIdentity? = nil,
        timeout: Duration = .seconds(300)
    ) async throws -> HTTPResponse {
        try await fetch(
            .get,
            url,
            headers: headers,
            policy: policy,
            identity: identity,
            timeout: timeout
        )
    }

    /// Sends a request and reads the response to its end; five minutes are for ever on the loopback interface, under a sanitizer too.
    func fetch(
        _ method: HTTPMethod,
        _ url: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody? = nil,
        policy: SecurityPolicy = .default,
        identity: ClientIdentity? = nil,
        timeout: Duration = .seconds(300)
    ) async throws -> HTTPResponse {
        let request = HTTPRequest(method, url: try #require(URL(string: url)), headers: headers, body: body)
        var context = TransportContext(policy: policy, deadline: .now + timeout, clientIdentity: identity)
        context.delivery = .buffered(limit: 64 << 20)
        let response = try await send(request, context: context)
        return HTTPResponse(head: response.head, body: try await response.body.collect())
    }
}

/// Runs what must fail and returns its error.
func failure(_ body: () async throws -> Void) async throws -> RequestError {
    do {
        try await body()
    } catch let error as RequestError {
        return error
    }
    throw Unexpected(what: "it did not fail")
}

/// Tries ever longer limits until one passes in the stage that a test is about: on a busy machine a short one may pass before.
///
/// - Parameters:
///   - first: The shortest limit.
///   - attempt: Whether the limit has passed in the right stage.
/// - Throws: What the attempt throws, or that no limit has passed there.
func withGrowingLimit(from first: Duration, _ attempt: (Duration) async throws -> Bool) async throws {
    var limit = first
    while try await !attempt(limit) {
        limit *= 4
        guard limit < .seconds(120) else { throw Unexpected(what: "no limit passed in the right stage") }
    }
}

/// Something that a test counted on did not happen.
struct Unexpected: Error {
    let what: String
}

/// A server with a certificate of its own for `localhost`, and policies about it.
struct PinnedServer {
    let server: TestServer
    let certificate: Certificate

    init(
        _ versions: ClosedRange<TLSVersion> = .tls12 ... .tls13,
        handler: @escaping TestServer.Handler = { _ in .json("{}") }
    ) throws {
        let identity = try Identity.selfSigned(Self.certificateOptions)
        let tls = TLSOptions(identity: identity, minimum: versions.lowerBound, maximum: versions.upperBound)
        server = try TestServer(tls: tls, handler: handler)
        certificate = try Certificate(der: identity.certificateDER)
    }

    /// With a common name: libcurl refuses a certificate whose issuer has no name at all.
    static var certificateOptions: CertificateOptions {
        .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
    }

    /// Accepts the server by its certificate.
    var pinned: SecurityPolicy {
        SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [certificate],
            allowInvalidCertificates: true
        )
    }

    /// Accepts the server by its key.
    var pinnedKey: SecurityPolicy {
        SecurityPolicy(
            pinningMode: .publicKey,
            pinnedPublicKeys: [certificate.publicKeyPin],
            allowInvalidCertificates: true
        )
    }

    /// Accepts every server.
    static let lenient = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)

    /// Pins somebody else's certificate.
    static func strictAboutAnother(_ mode: SecurityPolicy.PinningMode) throws -> SecurityPolicy {
        let other = try Identity.selfSigned(certificateOptions)
        return SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: [try Certificate(der: other.certificateDER)],
            allowInvalidCertificates: true
        )
    }
}

import Foundation
import NetManagerFoundation
import TestPKI
import TestServer

/// Waits for a call with closures and gives its error; nil when it succeeds.
///
/// A closure that is called twice, or both of them, traps in the checked continuation.
func failure<Value: Sendable>(
    _ start: (
        _ success: @escaping @Sendable (RequestTask, Value) -> Void,
        _ failure: @escaping @Sendable (RequestTask, RequestError) -> Void
    ) -> Void
) async -> RequestError? {
    await withCheckedContinuation { continuation in
        start({ _, _ in continuation.resume(returning: nil) }, { continuation.resume(returning: $1) })
    }
}

/// The error of a GET that gives JSON.
func failureOfGet(
    _ url: String,
    from manager: HTTPSessionManager,
    options: RequestOptions = .init()
) async -> RequestError? {
    await failure { (success: @escaping @Sendable (RequestTask, JSONValue) -> Void, failure) in
        manager.get(url, options: options, success: success, failure: failure)
    }
}

/// Finds what a function throws as a serialization error; nil when it throws none.
func serializationError<Value>(_ body: () throws -> Value) -> SerializationError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? SerializationError
    }
}

extension HTTPResponse {
    /// A response for serializers.
    init(_ body: String, type: String? = nil, status: Int = 200, url: String = "http://h/x") {
        self.init(Data(body.utf8), type: type, status: status, url: url)
    }

    init(_ body: Data, type: String? = nil, status: Int = 200, url: String = "http://h/x") {
        var head = Head(status: status, url: URL(string: url) ?? URL(filePath: "/"))
        head.headers["Content-Type"] = type
        self.init(head: head, body: body)
    }
}

extension NSError {
    /// What lies underneath, as the standard key gives it.
    var underlying: NSError? { userInfo[NSUnderlyingErrorKey] as? NSError }

    /// Domain and code as one value to compare.
    var number: String { "\(domain) \(code)" }
}

/// A TLS server with a certificate of its own.
struct SelfSignedServer {
    let server: TestServer
    let certificate: Certificate

    init(handler: @escaping TestServer.Handler = { _ in .json("{}") }) throws {
        let options = CertificateOptions.server(.dns("localhost")).with {
            $0.subject = .init(commonName: "localhost")
        }
        let identity = try Identity.selfSigned(options)
        server = try TestServer(tls: TLSOptions(identity: identity), handler: handler)
        certificate = try Certificate(der: identity.certificateDER)
    }

    /// A policy that accepts this server by its certificate and no other.
    var pinned: SecurityPolicy {
        SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [certificate],
            allowInvalidCertificates: true
        )
    }
}

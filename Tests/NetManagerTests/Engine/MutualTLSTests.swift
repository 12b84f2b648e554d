import FoundationEssentials
import NetManager
import TestPKI
import TestServer
import Testing

/// Client identities over real handshakes.
@Suite struct MutualTLSTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    private func isRefused(_ error: RequestError) -> Bool {
        if case .clientCertificateRefused = error.kind { true } else { false }
    }

    @Test(arguments: versions, [KeyKind.p256, .rsa(2048)])
    func `report 39: an identity opens a server that demands one, with a pin in the same request`(
        version: TLSVersion,
        key: KeyKind
    ) async throws {
        let mutual = try MutualServer(version)
        let client = try mutual.client(key: key)
        let response = try await CurlTransport().fetch(
            mutual.server.url(),
            policy: mutual.policy,
            identity: client.asClient
        )
        #expect(response.head.status == 200)
        #expect(mutual.shown == [client.certificateDER])
    }

    @Test(arguments: versions)
    func `an identity out of an old PKCS#12 file works like any other`(version: TLSVersion) async throws {
        let mutual = try MutualServer(version)
        let client = try mutual.client(key: .rsa(2048))
        let file = try client.pkcs12(password: "payment", protection: .legacy)
        let response = try await CurlTransport().fetch(
            mutual.server.url(),
            policy: mutual.policy,
            identity: ClientIdentity(pkcs12: file, password: "payment")
        )
        #expect(response.head.status == 200)
        #expect(mutual.shown == [client.certificateDER])
        #expect(!DefaultAlgorithms.offerCipher("RC2-40-CBC"))
    }

    // MARK: Refused

    @Test(arguments: versions, [HTTPMethod.get, .post])
    func `report 39: without an identity the error says that the server asked for one`(
        version: TLSVersion,
        method: HTTPMethod
    ) async throws {
        let mutual = try MutualServer(version)
        let error = try await failure {
            _ = try await CurlTransport().fetch(
                method,
                mutual.server.url(),
                body: method == .post ? .data(Data("x".utf8)) : nil,
                policy: mutual.policy
            )
        }
        #expect(isRefused(error), "\(error)")
        #expect("\(error)".contains("The server asked for a client certificate, which was not given."))
        #expect(!error.isRetryable)
        // NSURLErrorClientCertificateRequired.
        #expect(error._code == -1206)
        #expect(mutual.server.counters.requests == 0)
    }

    @Test(arguments: [0, 300_000])
    func `a refusal is told as one however early the server leaves, and nothing counts as sent`(
        size: Int
    ) async throws {
        let mutual = try MutualServer(.tls13)
        let transport = CurlTransport()
        // With TLS 1.3 the request races against the server's alert; one of five lost before it was looked for.
        for _ in 0..<15 {
            let error = try await failure {
                _ = try await transport.fetch(
                    size == 0 ? .get : .post,
                    mutual.server.url(),
                    body: size == 0 ? nil : .data(Data(count: size)),
                    policy: mutual.policy
                )
            }
            #expect(isRefused(error), "\(error)")
        }
        #expect(mutual.server.counters.requests == 0)
    }

    @Test(arguments: versions)
    func `a certificate of another authority is refused, and the error names it`(version: TLSVersion)
        async throws
    {
        let mutual = try MutualServer(version)
        let stranger = try Authority(commonName: "Stranger").issue(.client(commonName: "stranger"))
        let error = try await failure {
            _ = try await CurlTransport().fetch(
                mutual.server.url(),
                policy: mutual.policy,
                identity: stranger.asClient
            )
        }
        #expect(isRefused(error), "\(error)")
        #expect("\(error)".contains("unknown authority"))
        #expect("\(error)".contains("CN=stranger"))
        #expect(mutual.server.counters.requests == 0)
    }

    @Test(arguments: versions)
    func `a chain that the server finds expired does not count as a fault of the server`(
        version: TLSVersion
    ) async throws {
        let mutual = try MutualServer(version)
        let old = try mutual.clients.intermediate(
            .authority(commonName: "Old Issuing").with { $0.validity = .expired }
        )
        let client = try old.issue(.client(commonName: "client"))
        let error = try await failure {
            _ = try await CurlTransport().fetch(
                mutual.server.url(),
                policy: mutual.policy,
                identity: client.asClient
            )
        }
        #expect(isRefused(error), "\(error)")
        #expect("\(error)".contains("certificate expired"))
    }

    @Test(arguments: versions, [true, false])
    func `an untrusted server that asks for a certificate is reported as untrusted and shown nothing`(
        version: TLSVersion,
        hasIdentity: Bool
    ) async throws {
        let mutual = try MutualServer(version)
        let client = try mutual.client().asClient
        let error = try await failure {
            _ = try await CurlTransport().fetch(
                mutual.server.url(),
                policy: PinnedServer.strictAboutAnother(.certificate),
                identity: hasIdentity ? client : nil
            )
        }
        guard case .untrustedServer(.pinMismatch) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(await mutual.server.until { $0.failedHandshakes == 1 })
        #expect(mutual.shown.isEmpty)
    }

    @Test func `a failed handshake in which nobody asked for a certificate is not blamed on it`() async throws
    {
        let options = ServerOptions().with { $0.onConnect = { _ in .sendThenClose(tlsAlert: 40) } }
        let server = try TestServer(
            tls: TLSOptions(identity: .selfSigned(.server("localhost"))),
            options: options
        ) {
            _ in .json("{}")
        }
        let client = try Authority().issue(.client(commonName: "client")).asClient
        let error = try await failure {
            _ = try await CurlTransport().fetch(server.url(), policy: PinnedServer.lenient, identity: client)
        }
        guard case .tlsFailed = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    // MARK: Told before any traffic

    @Test(arguments: [CertificateOptions.Validity.expired, .notYet])
    func `an identity that is not valid now is told before connecting`(
        validity: CertificateOptions.Validity
    ) async throws {
        let mutual = try MutualServer(.tls13)
        let client = try mutual.client(validity: validity).asClient
        let error = try await failure {
            _ = try await CurlTransport().fetch(mutual.server.url(), policy: mutual.policy, identity: client)
        }
        guard case .invalidConfiguration(let reason) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(reason.contains("CN=client"))
        #expect(error.underlying is ClientIdentityError)
        #expect(mutual.server.counters.connections == 0)
    }

    @Test func `over plain http nobody asks for an identity, so its dates do not matter`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let expired = try Authority().issue(.client(commonName: "x").with { $0.validity = .expired }).asClient
        #expect(try await CurlTransport().fetch(server.url(), identity: expired).head.status == 200)
    }
}

import FoundationEssentials
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// What one identity has opened, no other and nobody without one may use.
@Suite struct IdentityIsolationTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]
    private static let closing: HTTPHeaders = ["Connection": "close"]

    @Test(arguments: versions)
    func `two identities never share a connection`(version: TLSVersion) async throws {
        let mutual = try MutualServer(version)
        let (first, second) = try (mutual.client("first"), mutual.client("second"))
        let transport = CurlTransport()
        for _ in 0..<2 {
            for client in [first, second] {
                for _ in 0..<3 {
                    _ = try await transport.fetch(
                        mutual.server.url(),
                        policy: mutual.policy,
                        identity: client.asClient
                    )
                }
            }
        }
        // Each has one connection of its own, which equal identities find again.
        #expect(mutual.shown == [first.certificateDER, second.certificateDER])
        #expect(mutual.server.counters.connections == 2)
        #expect(mutual.server.counters.requests == 12)
    }

    @Test(arguments: versions)
    func `two identities never share a TLS session`(version: TLSVersion) async throws {
        let mutual = try MutualServer(version)
        let (first, second) = try (mutual.client("first"), mutual.client("second"))
        let transport = CurlTransport()
        for client in [first, second, first, second] {
            _ = try await transport.fetch(
                mutual.server.url(),
                headers: Self.closing,
                policy: mutual.policy,
                identity: client.asClient
            )
        }
        #expect(
            mutual.shown == [
                first.certificateDER, second.certificateDER, first.certificateDER, second.certificateDER,
            ]
        )
        #expect(mutual.server.connections.map { $0.tls?.isResumed } == [false, false, true, true])
    }

    @Test(arguments: versions)
    func `who has no identity uses no connection and no session of who has one`(
        version: TLSVersion
    ) async throws {
        let mutual = try MutualServer(version, .optional)
        let client = try mutual.client()
        let transport = CurlTransport()
        let url = mutual.server.url()
        for headers in [[:], Self.closing] {
            for identity in [try client.asClient, nil, try client.asClient, nil] {
                _ = try await transport.fetch(
                    url,
                    headers: headers,
                    policy: mutual.policy,
                    identity: identity
                )
            }
        }
        for connection in mutual.server.connections {
            let requests = connection.requests
            #expect(requests > 0)
        }
        // One connection each, which the closing requests end, then new ones.
        let certificates = mutual.server.connections.map { $0.tls?.clientCertificate }
        #expect(certificates == [client.certificateDER, nil, client.certificateDER, nil])
    }

    @Test(arguments: versions)
    func `the same certificate under different policies is not shared either`(version: TLSVersion)
        async throws
    {
        let mutual = try MutualServer(version)
        let client = try mutual.client().asClient
        let transport = CurlTransport()
        for policy in [mutual.policy, PinnedServer.lenient] {
            for _ in 0..<2 {
                _ = try await transport.fetch(mutual.server.url(), policy: policy, identity: client)
            }
        }
        #expect(mutual.server.counters.connections == 2)
    }

    @Test func `what keeps connections apart names policy and identity, and nothing of the key`() throws {
        let clients = try (0..<2).map { _ in try Authority().issue(.client(commonName: "x")) }
        func mark(_ client: Identity?, _ policy: SecurityPolicy = .default) throws -> String {
            let context = TransportContext(policy: policy, clientIdentity: try client?.asClient)
            let request = HTTPRequest(url: try #require(URL(string: "https://localhost/")))
            return try TransferPlan(request, body: .none, context: context).policyID
        }
        let marks = try [
            mark(nil), mark(clients[0]), mark(clients[1]), mark(clients[0], PinnedServer.lenient),
            mark(nil, PinnedServer.lenient),
        ]
        #expect(Set(marks).count == marks.count)
        #expect(try mark(clients[0]) == marks[1])
        #expect(marks.allSatisfy { !$0.contains("PRIVATE") && !$0.contains("\n") })
    }

    @Test func `many identities at a time each show their own`() async throws {
        let mutual = try MutualServer(.tls13) { request in .text(request.target) }
        let clients = try (0..<8).map { try mutual.client("client \($0)") }
        let transport = CurlTransport()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                let identity = try clients[number % clients.count].asClient
                group.addTask {
                    _ = try await transport.fetch(
                        mutual.server.url("/\(number % clients.count)"),
                        policy: mutual.policy,
                        identity: identity,
                        timeout: .seconds(60)
                    )
                }
            }
            try await group.waitForAll()
        }
        let names = Dictionary(
            uniqueKeysWithValues: clients.enumerated().map { ($0.element.certificateDER, "/\($0.offset)") }
        )
        let owners = Dictionary(
            uniqueKeysWithValues: mutual.server.connections.compactMap { record in
                record.tls?.clientCertificate.flatMap { names[$0] }.map { (record.id, $0) }
            }
        )
        #expect(mutual.server.requests.count == 64)
        for request in mutual.server.requests { #expect(owners[request.connection] == request.target) }
    }
}

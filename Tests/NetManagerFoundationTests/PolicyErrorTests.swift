import Foundation
import NetManagerFoundation
import TestServer
import Testing

/// Servers that the policy refuses, as `NSError`.
@Suite struct PolicyErrorTests {
    private func manager(_ policy: SecurityPolicy) -> HTTPSessionManager {
        let manager = HTTPSessionManager(.init(), transport: CurlTransport())
        manager.securityPolicy = policy
        return manager
    }

    @Test func `cases 89, 91, 103, report 29: a wrong pin is −1202, names the host and is no cancellation`()
        async throws
    {
        let server = try SelfSignedServer()
        let other = try SelfSignedServer()
        let url = server.server.url("/get")
        let error = try #require(await failureOfGet(url, from: manager(other.pinned)))
        let bridged = error as NSError
        #expect(bridged.number == "NSURLErrorDomain -1202")
        #expect(bridged.code != NSURLErrorCancelled)
        #expect(bridged.localizedDescription.contains("localhost"))
        let info = NSError(requestError: error).userInfo
        #expect(info[NSURLErrorFailingURLErrorKey] as? URL == URL(string: url))
        #expect(info["NSErrorFailingURLStringKey"] as? String == url)
        let trust = try #require(info[NSURLErrorFailingURLPeerTrustErrorKey] as? ServerTrust)
        #expect(trust.certificates == [server.certificate])
        #expect(NSError(requestError: error).underlying != nil)
        #expect(server.server.counters.requests == 0)
    }

    @Test func `a server without a known authority is −1202`() async throws {
        let server = try SelfSignedServer()
        let error = try #require(await failureOfGet(server.server.url(), from: manager(.default)))
        #expect((error as NSError).number == "NSURLErrorDomain -1202")
        #expect(error.serverTrust?.certificates == [server.certificate])
    }

    @Test func `cases 91, 92, 94: the dictionary has the keys of what is there`() {
        func keys(_ trust: ServerTrust?, _ url: String) -> Set<String> {
            var error = RequestError(.untrustedServer(.noCertificate), method: .get, url: url)
            error.serverTrust = trust
            let keys = Set(NSError(requestError: error).userInfo.keys)
            return keys.subtracting([NSLocalizedDescriptionKey, NSUnderlyingErrorKey])
        }
        let urlKeys: Set = [NSURLErrorFailingURLErrorKey, "NSErrorFailingURLStringKey"]
        let trust = ServerTrust(certificates: [])
        #expect(
            keys(trust, "https://httpbin.org/get") == urlKeys.union([NSURLErrorFailingURLPeerTrustErrorKey])
        )
        #expect(keys(nil, "https://httpbin.org/get") == urlKeys)
        #expect(keys(trust, "") == [NSURLErrorFailingURLPeerTrustErrorKey])
        #expect(keys(nil, "") == [])
    }

    @Test
    func `cases 95, 97, 98, 100, 101, report 31: pins and plain http are an error of the configuration`()
        async throws
    {
        let server = try SelfSignedServer()
        let plain = try TestServer { _ in .json("{}") }
        var publicKeys = server.pinned
        publicKeys.pinningMode = .publicKey
        for policy in [server.pinned, publicKeys] {
            let manager = manager(policy)
            for base in [URL(string: plain.url()), nil] {
                manager.configuration.baseURL = base
                let error = try #require(await failureOfGet(plain.url(), from: manager))
                #expect((error as NSError).number == "NetManager.RequestError 1")
            }
            manager.configuration.baseURL = URL(string: server.server.url())
            #expect(await failureOfGet("x", from: manager) == nil)
        }
        #expect(plain.counters.requests == 0)
    }

    @Test func `case 104: a wrong pin while there is a body calls failure once`() async throws {
        let server = try SelfSignedServer()
        let other = try SelfSignedServer()
        let manager = manager(other.pinned)
        let big = String(repeating: "x", count: 1 << 20)
        let error: RequestError? = await failure {
            (success: @escaping @Sendable (RequestTask, JSONValue) -> Void, fail) in
            manager.post(
                server.server.url(),
                parameters: ["big": .string(big)],
                success: success,
                failure: fail
            )
        }
        #expect((try #require(error) as NSError).code == -1202)
        #expect(server.server.counters.requests == 0)
    }
}

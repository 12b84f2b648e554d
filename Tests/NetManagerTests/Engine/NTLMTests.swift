import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// NTLM authenticates a connection, so that whoever gets it next would be taken for its user.
@Suite struct NTLMTests {
    /// A server that, as IIS does, asks once on each connection and then takes every request on it for that user's.
    private func server() throws -> TestServer {
        let users = Shared<[Int: String]>([:])
        return try TestServer { request in
            let field = request.headers["Authorization"] ?? ""
            guard field.hasPrefix("NTLM "), let message = Data(base64Encoded: String(field.dropFirst(5)))
            else {
                if let user = users.value[request.connection] { return .text(user) }
                return .text("who?", status: 401).header("WWW-Authenticate", "NTLM")
            }
            guard let user = Self.user(in: message) else {
                return .text("how?", status: 401)
                    .header("WWW-Authenticate", "NTLM \(Self.challenge.base64EncodedString())")
            }
            users.withLock { $0[request.connection] = user }
            return .text(user)
        }
    }

    /// A CHALLENGE_MESSAGE ([MS-NLMP], section 2.2.1.2) that takes names in the client's code page (flags 0x0202).
    private static let challenge: Data = {
        var message = Data("NTLMSSP\0".utf8)
        message += [2, 0, 0, 0]
        message += Data(count: 8)
        message += [0x02, 0x02, 0, 0]
        message += [1, 2, 3, 4, 5, 6, 7, 8]
        message += Data(count: 8)
        return message
    }()

    /// The user of an AUTHENTICATE_MESSAGE (section 2.2.1.3); nil for any other message.
    private static func user(in message: Data) -> String? {
        let bytes = [UInt8](message)
        guard bytes.count >= 44, bytes[8] == 3 else { return nil }
        let length = Int(bytes[36]) | Int(bytes[37]) << 8
        let offset = Int(bytes[40]) | Int(bytes[41]) << 8
        guard offset + length <= bytes.count else { return nil }
        return String(decoding: bytes[offset..<offset + length], as: UTF8.self)
    }

    private func get(_ server: TestServer, as user: String?, over transport: CurlTransport) async throws
        -> HTTPResponse
    {
        var context = TransportContext(deadline: .now + .seconds(300))
        context.delivery = .buffered(limit: 1000)
        context.authentication = user.map { Authentication(user: $0, password: "p", schemes: .ntlm) }
        let url = try #require(URL(string: server.url()))
        let response = try await transport.send(HTTPRequest(url: url), context: context)
        return HTTPResponse(head: response.head, body: try await response.body.collect())
    }

    @Test func `a connection that NTLM has proven a user on serves nobody else`() async throws {
        let server = try server()
        let transport = CurlTransport()
        for user in ["ada", "bob", "ada", nil, "bob", nil, "ada"] {
            let response = try await get(server, as: user, over: transport)
            #expect(response.head.status == (user == nil ? 401 : 200))
            #expect(String(decoding: response.body, as: UTF8.self) == user ?? "who?")
        }
        // One for each user, and one for who is nobody.
        #expect(Set(server.requests.map(\.connection)).count == 3)
    }

    @Test func `many users at once are each taken for themselves`() async throws {
        let server = try server()
        let transport = CurlTransport()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    let user = number % 4 == 0 ? nil : "user\(number % 4)"
                    for _ in 0..<4 {
                        let response = try await get(server, as: user, over: transport)
                        #expect(String(decoding: response.body, as: UTF8.self) == user ?? "who?")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

// Shows: testing code that makes requests, without a server: the transport is a closure, and remembers what was
// asked for. In a project of your own `main` is a @Test function.
import Glibc
import NetManager

/// The code under test.
struct UserService: Sendable {
    struct User: Decodable, Sendable { var name: String }

    let api: HTTPSessionManager

    func names(page: Int) async throws -> [String] {
        try await api.get("users", parameters: ["page": JSONValue(page)], as: .decoding([User].self)).map(
            \.name
        )
    }
}

@main
struct StubInTests {
    static func main() async throws {
        var configuration = HTTPSessionManager.Configuration()
        configuration.baseURL = URL(string: "https://api.example.com/v1/")

        let stub = StubTransport(json: #"[{"name": "Ada"}, {"name": "Grace"}]"#)
        let service = UserService(api: HTTPSessionManager(configuration, transport: stub))
        let names = try await service.names(page: 2)
        print("names: \(names)")
        print("asked for: \(stub.requests.map(\.url.absoluteString))")
        guard names == ["Ada", "Grace"] else { exit(1) }
        guard stub.requests.first?.url.absoluteString == "https://api.example.com/v1/users?page=2" else {
            exit(1)
        }

        // A bad day: the first answer is an error, the second one is not what was promised.
        let failing = StubTransport { request in
            let isFirst = request.url.absoluteString.hasSuffix("page=1")
            return HTTPResponse(
                head: .init(
                    status: isFirst ? 503 : 200,
                    headers: ["Content-Type": "application/json"],
                    url: request.url
                ),
                body: Data("{}".utf8)
            )
        }
        let unlucky = UserService(api: HTTPSessionManager(configuration, transport: failing))
        for page in 1...2 {
            do {
                _ = try await unlucky.names(page: page)
                exit(1)
            } catch let error as RequestError {
                print("page \(page): \(error)")
                switch (page, error.kind) {
                case (1, .unacceptableStatus(503)), (2, .undecodable): continue
                default: exit(1)
                }
            }
        }
    }
}

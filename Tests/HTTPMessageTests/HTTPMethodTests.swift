import HTTPMessage
import Testing

@Suite struct HTTPMethodTests {
    @Test func `methods are their names`() {
        let methods: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options, .trace, .connect]
        #expect(
            methods.map(\.description)
                == ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
        )
        #expect(HTTPMethod(rawValue: "GET") == .get)
        #expect(HTTPMethod(rawValue: "get") != .get)
        #expect(("QUERY" as HTTPMethod).rawValue == "QUERY")
    }

    @Test func `only methods that may be repeated are idempotent, only those that read are safe`() {
        let idempotent: Set<HTTPMethod> = [.get, .head, .put, .delete, .options, .trace]
        let safe: Set<HTTPMethod> = [.get, .head, .options, .trace]
        for method: HTTPMethod in [
            .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect, "get", "QUERY",
        ] {
            #expect(method.isIdempotent == idempotent.contains(method))
            #expect(method.isSafe == safe.contains(method))
        }
    }
}

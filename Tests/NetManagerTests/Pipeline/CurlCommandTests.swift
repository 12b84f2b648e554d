import NetManager
import Testing

@Suite struct CurlCommandTests {
    private func request(_ method: HTTPMethod = .get, _ url: String) throws -> HTTPRequest {
        HTTPRequest(method, url: try #require(URL(string: url)))
    }

    @Test func `a request is written as a shell would read it`() throws {
        var request = try request(.put, "https://h/x?a=1&b=it's")
        request.headers = ["Accept": "text/plain", "X-Quote": "it's", "X-Empty": ""]
        #expect(
            request.curlCommand(revealingSecrets: true)
                == "curl --request 'PUT' --header 'Accept: text/plain' --header 'X-Quote: it'\\''s' "
                + "--header 'X-Empty;' 'https://h/x?a=1&b=it'\\''s'"
        )
        #expect(try self.request(.get, "https://h/").curlCommand() == "curl 'https://h/'")
        #expect(try self.request(.head, "https://h/").curlCommand() == "curl --head 'https://h/'")
    }

    @Test func `a quote with a combining mark behind it is still escaped`() throws {
        var request = try request(.get, "https://h/")
        request.headers = ["X-Name": "'\u{301}; touch x; '\u{301}"]
        let command = Array(request.curlCommand(revealingSecrets: true).utf8)
        let expected = "curl --header 'X-Name: '\\''\u{301}; touch x; '\\''\u{301}' 'https://h/'"
        #expect(command == Array(expected.utf8))
    }

    @Test func `secrets behind a fragment or an escaped name are not in it`() throws {
        let url = "https://h/x?a%63cess_token=hidden#access_token=hidden"
        #expect(!(try request(.get, url).curlCommand().contains("hidden")))
    }

    @Test func `secrets are not in it unless they are asked for`() throws {
        var request = try request(
            .post,
            "https://user:hidden@h/x?access_token=hidden&page=2&key=hidden&sig=hidden"
        )
        request.headers = [
            "Authorization": "Bearer hidden", "Cookie": "hidden", "X-Api-Key": "hidden",
            "Proxy-Authorization": "hidden",
            "Accept": "text/plain",
        ]
        request.body = .data(Data("password=hidden".utf8))
        let command = request.curlCommand()
        #expect(!command.contains("hidden"))
        #expect(command.contains("page=2"))
        #expect(command.contains("text/plain"))
        #expect(command.contains("'<15 bytes>'"))
        let revealed = request.curlCommand(revealingSecrets: true)
        #expect(revealed.contains("Bearer hidden"))
        #expect(revealed.contains("'password=hidden'"))
    }

    @Test func `a body that is a file or no text is named and not read`() throws {
        var request = try request(.post, "https://h/")
        request.body = .file("/tmp/a b")
        #expect(request.curlCommand().contains("--data-binary '@/tmp/a b'"))
        request.body = .data(Data([0xFF, 0xFE]))
        #expect(request.curlCommand(revealingSecrets: true).contains("'<2 bytes>'"))
        // curl would read a file of that name.
        request.body = .data(Data("@/etc/passwd".utf8))
        #expect(!request.curlCommand(revealingSecrets: true).contains("/etc/passwd"))
    }
}

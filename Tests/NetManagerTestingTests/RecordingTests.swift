import HTTPMessage
import NetManagerTesting
import Testing

@Suite struct RecordingTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// Sends requests through a recorder and returns what it recorded, once through its file.
    private func recording(
        of requests: [HTTPRequest],
        _ redaction: Redaction = .standard,
        answer: @escaping StubTransport.Answer
    ) async throws -> Recording {
        let recorder = RecordingTransport(StubTransport(answer), redaction: redaction)
        for request in requests {
            _ = try? await recorder.send(request, context: TransportContext()).body.collect()
        }
        return try Recording(parsing: recorder.recording.data())
    }

    private func response(
        _ body: Data,
        _ headers: HTTPHeaders = [:],
        status: Int = 200
    ) -> StubTransport.Answer {
        {
            HTTPResponse(
                head: .init(status: status, headers: headers, url: $0.url, version: .http2),
                body: body
            )
        }
    }

    @Test func `text, binary and empty bodies, repeated fields and the version come back from the file`()
        async throws
    {
        let headers = HTTPHeaders(fields: [
            .init(name: "X-Many", value: "one"), .init(name: "X-Many", value: "two"),
            .init(name: "Content-Type", value: "text/plain"),
        ])
        for body in [Data(), Data("ü\r\n\u{0}\"".utf8), Data([0xFF, 0, 0x80])] {
            let request = HTTPRequest(.put, url: try url("https://a.test/x?q=1"), body: .data(body))
            let recording = try await recording(of: [request], answer: response(body, headers, status: 207))
            let exchange = try #require(recording.exchanges.first)
            #expect(exchange.requestBody == body)
            let replayed = try await ReplayTransport(recording).send(request, context: TransportContext())
            #expect(replayed.head.status == 207)
            #expect(replayed.head.version == .http2)
            #expect(replayed.head.headers[values: "x-many"] == ["one", "two"])
            #expect(try await replayed.body.collect() == body)
        }
    }

    @Test(arguments: ["connection_lost", "timed_out_first_byte", "name_not_resolved", "outcome_unknown"])
    func `failures of the connection are recorded and replayed`(label: String) async throws {
        let kinds: [RequestError.Kind] = [
            .connectionLost, .timedOut(.firstByte), .nameNotResolved, .outcomeUnknown,
        ]
        let kind = try #require(kinds.first { RequestError($0, method: .get, url: "").label == label })
        let request = HTTPRequest(url: try url("https://a.test/"))
        let recording = try await recording(of: [request]) { request in
            throw RequestError(kind, method: request.method, url: request.url.absoluteString)
        }
        let error = try await #require(throws: RequestError.self) {
            try await ReplayTransport(recording).send(request, context: TransportContext())
        }
        #expect(error.label == label)
    }

    @Test func `a call that was cancelled or a server that is not trusted is not recorded`() async throws {
        let request = HTTPRequest(url: try url("https://a.test/"))
        let untrusted = try await recording(of: [request]) { request in
            throw RequestError(
                .untrustedServer(.noCertificate),
                method: request.method,
                url: "https://a.test/"
            )
        }
        #expect(untrusted.exchanges.isEmpty)
        let cancelled = try await recording(of: [request]) { _ in throw CancellationError() }
        #expect(cancelled.exchanges.isEmpty)
    }

    @Test func `a stream is recorded and still sent`() async throws {
        let (pieces, source) = AsyncStream<Data>.makeStream()
        for piece in ["str", "eam"] { source.yield(Data(piece.utf8)) }
        source.finish()
        let stub = StubTransport()
        let recorder = RecordingTransport(stub)
        let request = HTTPRequest(.post, url: try url("https://a.test/"), body: .stream(pieces))
        _ = try await recorder.send(request, context: TransportContext())
        #expect(recorder.recording.exchanges.first?.requestBody == Data("stream".utf8))
        #expect(stub.requests.count == 1)
    }

    @Test func `equal requests get their answers in the order in which they came`() async throws {
        let request = HTTPRequest(url: try url("https://a.test/"))
        var recording = Recording()
        for body in ["first", "second"] {
            recording.exchanges.append(
                .init(
                    url: "https://a.test/",
                    outcome: .response(status: 200, headers: [:], body: Data(body.utf8), version: .http1_1)
                )
            )
        }
        let replay = ReplayTransport(recording)
        var bodies: [String] = []
        for _ in 0..<2 {
            let response = try await replay.send(request, context: TransportContext())
            bodies.append(String(decoding: try await response.body.collect(), as: UTF8.self))
        }
        #expect(bodies == ["first", "second"])
        #expect(replay.unused.isEmpty)
    }

    @Test func `a request whose content differs matches where only method and URL count`() async throws {
        let recorded = HTTPRequest(.post, url: try url("https://a.test/"), body: .data(Data("a".utf8)))
        let other = HTTPRequest(.post, url: try url("https://a.test/"), body: .data(Data("b".utf8)))
        let recording = try await recording(of: [recorded], answer: response(Data()))
        _ = try await ReplayTransport(recording).send(other, context: TransportContext())
        let strict = ReplayTransport(recording, matching: .methodURLAndBody)
        await #expect(throws: RequestError.self) { try await strict.send(other, context: TransportContext()) }
        _ = try await strict.send(recorded, context: TransportContext())
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"format":2,"exchanges":[]}"#, #"{"format":1,"exchanges":[{}]}"#,
        #"{"format":1,"exchanges":[{"request":{"method":"GET","url":"/"},"failure":"made_up"}]}"#,
        #"{"format":1,"exchanges":[{"request":{"method":"GET","url":"/"},"response":{"status":7}}]}"#,
    ])
    func `a file that is no recording is refused`(text: String) {
        #expect(throws: Recording.Malformed.self) { try Recording(parsing: Data(text.utf8)) }
    }

    @Test func `a recording makes the folders of its file, and one that is not there says what to do`() throws
    {
        let folder =
            FileManager.default.temporaryDirectory.path + "/recording-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/Fixtures/users.json"
        let error = #expect(throws: Recording.Malformed.self) { try ReplayTransport(contentsOf: path) }
        #expect(error?.description == "No recording at \(path): there is no such file. Record it first.")
        try Recording().write(to: path)
        #expect(try Recording(contentsOf: path).exchanges.isEmpty)
        try Data("[]".utf8).write(to: URL(filePath: path))
        let other = #expect(throws: Recording.Malformed.self) { try Recording(contentsOf: path) }
        #expect(other?.description.hasPrefix(path + ": ") == true)
    }

    @Test func `secrets are taken out of URLs, fields, forms and JSON, and what looks like one only stays`()
        async throws
    {
        var request = HTTPRequest(
            .post,
            url: try url("https://ada:pa55@a.test/x?access_token=qu3ry&page=2"),
            headers: [
                "Authorization": "f1eld", "Cookie": "f2eld", "X-Api-Key": "f3eld",
                "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/x",
            ]
        )
        request.body = .data(Data("user=ada&pass%77ord=f0rm&client_secret=f4rm".utf8))
        let answer = """
            {"accessToken":"js0n","nested":[{"api_key":"k3y","author":"Ada","secret":[1,{"x":"d33p"}]}],"page":2}
            """
        let recording = try await recording(
            of: [request],
            answer: response(
                Data(answer.utf8),
                [
                    "Set-Cookie": "c00kie", "Location": "https://b.test/?code=l0c",
                    "Content-Type": "application/json",
                ]
            )
        )
        let text = String(decoding: try recording.data(), as: UTF8.self)
        let secrets = [
            "pa55", "qu3ry", "f1eld", "f2eld", "f3eld", "f0rm", "f4rm", "js0n", "k3y", "d33p", "c00kie",
            "l0c",
        ]
        for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
        for rest in ["page=2", "user=ada", "text/x", "Ada", "https://b.test/"] {
            #expect(text.contains(rest))
        }
        guard case .response(_, _, let body, _)? = recording.exchanges.first?.outcome else {
            Issue.record("no response")
            return
        }
        let json = try JSONValue(parsing: body)
        // The shape is kept, so that it is decoded as before.
        #expect(json["nested"]?[0]?["secret"]?[0] == 0)
        #expect(json["page"] == 2)
    }

    @Test func `names and a closure of one's own take out more, and none takes out nothing`() async throws {
        let request = HTTPRequest(url: try url("https://a.test/?iban=DE00"), headers: ["X-Customer": "4711"])
        var redaction = Redaction()
        redaction.names = ["IBAN", "x-customer"]
        redaction.further = { exchange in
            if case .response(let status, let headers, _, let version) = exchange.outcome {
                exchange.outcome = .response(status: status, headers: headers, body: Data(), version: version)
            }
        }
        let clean = try await recording(of: [request], redaction, answer: response(Data("pl4in".utf8)))
        let text = String(decoding: try clean.data(), as: UTF8.self)
        for secret in ["DE00", "4711", "pl4in"] { #expect(!text.contains(secret)) }
        let all = try await recording(of: [request], .none, answer: response(Data("pl4in".utf8)))
        let everything = String(decoding: try all.data(), as: UTF8.self)
        for secret in ["DE00", "4711", "pl4in"] { #expect(everything.contains(secret)) }
        // A request is compared as it would have been recorded.
        _ = try await ReplayTransport(clean, redaction: redaction).send(request, context: TransportContext())
    }
}

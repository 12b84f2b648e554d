import ChildProcess
import HTTPMessage
import TestPKI
import TestServer
import Testing

/// Negotiate with real tickets of a real Kerberos realm, against a real server that takes a connection for its user's.
@Suite(
    .enabled(if: KerberosPeer.isInstalled && ApachePeer.isInstalled, "Kerberos is installed by scripts/test")
)
struct NegotiateTests {
    private let realm: KerberosPeer
    private let apache: ApachePeer
    /// What Apache lets pass: says who asks and over which connection.
    private let server: TestServer

    init() async throws {
        let server = try TestServer { request in
            if request.path == "/leave", let target = request.query {
                return .text("", status: 302).header("Location", target)
            }
            let fields = ["X-User", "X-Connection", "X-Protocol"].map { request.headers[$0] ?? "" }
            return .text(fields.map { $0.isEmpty ? "-" : $0 }.joined(separator: " "))
        }
        self.server = server
        (realm, apache) = try await started {
            let realm = try KerberosPeer(users: ["ada", "bob"])
            let identity = try Identity.selfSigned(PinnedServer.certificateOptions)
            return (realm, try ApachePeer(identity, for: realm, before: server.port))
        }
    }

    /// What a program with the tickets of a user got: status, user, connection and protocol of each answer.
    private struct Answer {
        var status = ""
        var user: String?
        var connection = ""
        var version: String?

        init(_ line: Substring) {
            let words = line.split(separator: " ").map(String.init)
            status = words.first ?? ""
            if words.count == 4 {
                (user, connection, version) = (words[1], words[2], words[3])
            } else {
                connection = words.dropFirst().first ?? ""
            }
        }
    }

    private func answers(with tickets: String?, _ rounds: [String]) async throws -> [Answer] {
        try await answers(in: realm.environment(of: tickets), rounds)
    }

    private func answers(in environment: [String], _ rounds: [String]) async throws -> [Answer] {
        let probe = try #require(ChildProcess.built("ExitProbe"))
        // As for other programs that tests run (ExitTests): the sanitizers look at the end of a process.
        let environment =
            environment + [
                "SWIFT_BACKTRACE=enable=no", "TSAN_OPTIONS=atexit_sleep_ms=0:exitcode=66",
                "ASAN_OPTIONS=detect_leaks=0",
            ]
        let output = try await started {
            try ChildProcess.output(of: probe, ["negotiate"] + rounds, environment: environment)
        }
        var lines = output.split(separator: "\n")
        // The last one says how many outcomes there were: exactly one for each request.
        #expect(lines.popLast().map(String.init) == "\(lines.count)")
        #expect(lines.count == rounds.flatMap { $0.split(separator: ",") }.count)
        return lines.map(Answer.init)
    }

    /// Who can be told that a POST was refused.
    ///
    /// Over HTTP/2 Apache refuses before it has read the content and resets the stream. libcurl 7.88 loses the refusal when
    /// it reads both together, and the error says that the outcome is unknown. Who asks without credentials first is there.
    private func writers(_ isSecure: Bool) -> [String] {
        ["ticket", "any"] + (isSecure ? [] : ["asked"])
    }

    @Test(arguments: ["ada", "bob"], [false, true])
    func `a user with a ticket is known to the server`(user: String, isSecure: Bool) async throws {
        // At once; when the server has said which scheme it takes; when the program was asked.
        let who = ["ticket", "any", "asked"]
        let answers = try await answers(with: user, who.map { "\($0) GET \(apache.url(isSecure: isSecure))" })
        for (who, answer) in zip(who, answers) {
            #expect(answer.status == "200", "\(who)")
            #expect(answer.user == "\(user)@\(KerberosPeer.realm)", "\(who)")
            #expect(answer.version == "HTTP/1.1", "\(who)")
        }
    }

    @Test(arguments: [false, true])
    func `without a ticket the refusal of the server is the answer`(isSecure: Bool) async throws {
        let url = apache.url(isSecure: isSecure)
        let rounds =
            ["ticket", "any", "asked", "nobody"].map { "\($0) GET \(url)" }
            + writers(isSecure).map { "\($0) POST \(url)" }
        let answers = try await answers(with: nil, rounds)
        for (round, answer) in zip(rounds, answers) { #expect(answer.status == "401", "\(round)") }
        #expect(server.counters.requests == 0)
    }

    @Test(arguments: [false, true])
    func `a connection that Negotiate has proven a user on serves nobody else`(isSecure: Bool) async throws {
        let url = apache.url(isSecure: isSecure)
        let open = apache.url("/open/", isSecure: isSecure)
        let who = ["nobody", "ticket", "nobody", "ticket", "bob", "any", "nobody", "asked", "nobody"]
        let answers = try await answers(with: "ada", who.map { "\($0) GET \(url)" } + ["nobody GET \(open)"])
        for (who, answer) in zip(who, answers) {
            // The ticket counts, whatever name stands beside it.
            #expect(answer.status == (who == "nobody" ? "401" : "200"), "\(who)")
            #expect(answer.user == (who == "nobody" ? nil : "ada@\(KerberosPeer.realm)"), "\(who)")
        }
        #expect(answers.last?.user == "-")
        // Over none of those on which a user was proven was anything sent afterwards.
        let proven = answers.indices.filter { answers[$0].user?.hasPrefix("ada@") == true }
        #expect(Set(proven.map { answers[$0].connection }).count == 5)
        for index in proven {
            let earlier = answers[..<index].map(\.connection)
            let later = answers[(index + 1)...].map(\.connection)
            #expect(!later.contains(answers[index].connection), "\(index)")
            // Nor before, but that an answer to a challenge may go over an idle connection without TLS.
            if isSecure || who[index] == "ticket" {
                #expect(!earlier.contains(answers[index].connection), "\(index)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `many requests at once are each taken for who sends them`(isSecure: Bool) async throws {
        let url = apache.url(isSecure: isSecure)
        let round = (0..<12).map { "\($0 % 3 == 0 ? "ticket" : "nobody") GET \(url)" }
        let rounds = Array(repeating: round.joined(separator: ","), count: 4)
        for (number, answer) in try await answers(with: "ada", rounds).enumerated() {
            #expect(answer.status == (number % 3 == 0 ? "200" : "401"))
        }
        #expect(server.counters.requests == 16)
    }

    @Test func `a redirect to another origin does not take the token along`() async throws {
        let other = try TestServer { .text("\($0.headers["Authorization"] ?? "none") 0 0") }
        let who = ["ticket", "any", "asked"]
        let rounds = who.map { "\($0) GET \(apache.url("/leave?" + other.url()))" }
        let answers = try await answers(with: "ada", rounds + ["ticket GET \(apache.url())"])
        #expect(answers.map(\.user) == ["none", "none", "none", "ada@\(KerberosPeer.realm)"])
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil, nil, nil])
        // The redirect itself was for the user alone.
        #expect(
            server.requests.map { $0.headers["X-User"] ?? "" }
                == Array(repeating: "ada@\(KerberosPeer.realm)", count: 4)
        )
    }

    @Test(arguments: [false, true])
    func `a POST is executed once, with its content`(isSecure: Bool) async throws {
        let who = writers(isSecure)
        let url = apache.url(isSecure: isSecure)
        let answers = try await answers(with: "ada", who.map { "\($0) POST \(url)" })
        #expect(answers.map(\.status) == who.map { _ in "200" })
        #expect(server.requests.map(\.method) == who.map { _ in "POST" })
        #expect(Set(server.requests.map { String(decoding: $0.body, as: UTF8.self) }) == ["text=0123456789"])
    }

    @Test(arguments: [false, true])
    func `a KDC that is silent holds up nobody else, and no request beyond its deadline`(isSecure: Bool)
        async throws
    {
        let url = apache.url(isSecure: isSecure)
        let open = apache.url("/open/", isSecure: isSecure)
        let start = ContinuousClock.now
        // All at once, and others when those are over. The library that is asked gives the KDC up after 25 seconds.
        let answers = try await answers(
            in: realm.silentEnvironment(of: "ada"),
            ["hasty GET \(url),hasty GET \(url),brief GET \(open),brief GET \(open)", "brief GET \(open)"]
        )
        #expect(start.duration(to: .now) < .seconds(10))
        #expect(answers.map(\.status) == ["error:", "error:", "200", "200", "200"])
        #expect(server.requests.map(\.path) == ["/open/", "/open/", "/open/"])
    }

    @Test func `a KDC that is silent about many servers takes few threads, and holds up nobody else`()
        async throws
    {
        let open = "brief GET \(apache.url("/open/"))"
        let many = (0..<40).map { "hasty GET http://host\($0).example/" }
        let answers = try await answers(
            in: realm.silentEnvironment(of: "ada"),
            [(many + [open]).joined(separator: ","), "hasty GET http://host40.example/,\(open)"]
        )
        #expect(answers.map(\.status) == many.map { _ in "error:" } + ["200", "error:", "200"])
        // Each thread has asked once, and waits.
        #expect(realm.unansweredQuestions == 8)
    }

    @Test func `a request for whose server there is no ticket goes on without one`() async throws {
        // The realm knows the server by its name alone.
        let (closed, open) = (apache.url(host: "127.0.0.1"), apache.url("/open/", host: "127.0.0.1"))
        let answers = try await answers(
            with: "ada",
            ["ticket GET \(closed),any GET \(closed),ticket GET \(open)", "ticket GET \(apache.url())"]
        )
        #expect(answers.map(\.status) == ["401", "401", "200", "200"])
        #expect(answers.dropFirst(2).map(\.user) == ["-", "ada@\(KerberosPeer.realm)"])
    }

    @Test(arguments: [false, true])
    func `a connection to a proxy that Negotiate has proven a user on serves nobody else`(isSecure: Bool)
        async throws
    {
        let identity = try isSecure ? Identity.selfSigned(PinnedServer.certificateOptions) : nil
        let behind = try TestServer(tls: identity.map { TLSOptions(identity: $0) }) {
            .text("\($0.headers["X-User"] ?? "-") \($0.headers["X-Connection"] ?? "-") -")
        }
        // Who is asked answers the proxy; the server behind asks nobody.
        let who = ["asked", "nobody", "asked", "nobody"]
        let answers = try await answers(
            with: "ada",
            who.map { "via:\(apache.proxyPort):\($0) GET \(behind.url())" }
        )
        let refusal = isSecure ? "error:" : "407"
        #expect(answers.map(\.status) == ["200", refusal, "200", refusal])
        #expect(behind.counters.requests == 2)
        #expect(behind.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
        guard !isSecure else { return }
        let proven = answers.filter { $0.status == "200" }
        #expect(proven.map(\.user) == Array(repeating: "ada@\(KerberosPeer.realm)", count: 2))
        #expect(Set(proven.map(\.connection)).count == 2)
    }
}

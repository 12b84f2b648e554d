import TestPKI
import TestServer
import Testing

@testable import NetManager

/// Something that the scripted HTTP/2 server does, and how a request for it ends.
struct HTTP2Fault: Sendable, CustomStringConvertible {
    /// Its name in a path.
    let name: String
    /// The label of the error of a GET; nil for a success.
    var get: String?
    /// The label of the error of a POST.
    var post: String?
    /// Where the error says that it happened.
    var phase = RequestError.Phase.firstByte
    /// Whether only the time ends it.
    var isSilent = false

    var description: String { name }

    /// Whether a call may end like this: with the label of an error, or nil for a success.
    func explains(_ label: String?, of method: HTTPMethod) -> Bool {
        if label == (method == .get ? get : post) { return true }
        guard CurlLibrary.version >= 0x08_00_00 else { return false }
        return switch name {
        // libcurl 8.5 sends it again by itself, since the server says that it did not look at it (RFC 9113, section 6.8).
        case "goaway-early-once": method == .get && label == nil
        // nghttp2 says by now that it was one.
        case "ping-flood": label == "protocol_error"
        default: false
        }
    }

    /// libcurl 8.14 leaves a connection in its pool that nghttp2 has given up, and the next request fails too.
    var isLeftInPool: Bool {
        CurlLibrary.version >= 0x08_00_00 && ["window-overflow", "wrong-stream", "slow-head"].contains(name)
    }

    /// libcurl 8.5 reads interim answers as long as some are there; 8.14 has a limit.
    static let readsInterimAnswersWithoutEnd = (0x08_00_00..<0x08_0E_00).contains(CurlLibrary.version)

    /// The connection or the stream is given up before there is a response.
    private static func broken(_ name: String, in phase: RequestError.Phase = .firstByte) -> Self {
        Self(name: name, get: "connection_lost", post: "outcome_unknown", phase: phase)
    }

    /// The head is there and what follows is not all of it, so that the request was executed.
    private static func cut(_ name: String) -> Self {
        Self(name: name, get: "connection_lost", post: "connection_lost", phase: .idle)
    }

    /// What was sent is no HTTP/2, or says what HTTP/2 must not.
    private static func malformed(_ name: String, in phase: RequestError.Phase = .firstByte) -> Self {
        Self(name: name, get: "protocol_error", post: "protocol_error", phase: phase)
    }

    private static func silent(_ name: String, in phase: RequestError.Phase = .firstByte) -> Self {
        Self(name: name, get: "timed_out_total", post: "timed_out_total", phase: phase, isSilent: true)
    }

    private static func success(_ name: String) -> Self { Self(name: name) }

    /// The connection is given up, in good order or not.
    static let goaways: [Self] = [
        broken("goaway-early"), broken("goaway-early-once"), broken("goaway-calm"),
        broken("goaway-unanswered"), broken("goaway-error"), cut("goaway-in-body"),
        success("goaway-late"), success("goaway-late-closing"), success("goaway-graceful"),
    ]

    /// The stream is given up.
    static let resets: [Self] = [
        broken("refused"), Self(name: "refused-once", post: "outcome_unknown"), broken("rst"),
        broken("rst-cancel"), broken("rst-no-error"), broken("rst-refused-after"), cut("rst-in-body"),
        success("rst-behind"),
    ]

    /// The connection breaks.
    static let breaks: [Self] = [
        broken("close"), broken("abort"), broken("tls-alert"), broken("half-frame"),
        broken("window-overflow"), silent("silence"), silent("slow-head"), silent("slow-body", in: .idle),
    ]

    /// Answers that are none.
    static let unreadable: [Self] = [
        broken("garbage"), broken("giant-frame"), broken("broken-fields"), broken("body-without-head"),
        broken("wrong-stream"), broken("push"), malformed("no-status"), malformed("two-statuses"),
        malformed("wrong-status"), malformed("upper-case"), malformed("connection-field"),
        malformed("two-lengths"), malformed("no-content"),
        malformed("short-body", in: .idle), malformed("long-body", in: .idle),
    ]

    /// Answers without end, which the client must end.
    static let floods: [Self] = [
        malformed("interim-flood"), malformed("giant-field"), malformed("endless-continuation"),
        malformed("many-fields"), broken("ping-flood"), malformed("settings-flood"),
        Self(name: "redirect", get: "too_many_redirects", post: "too_many_redirects"),
    ]

    /// Odd answers that have one reading.
    static let usable: [Self] = [
        success("ok"), success("early"), success("byte-by-byte"), success("interim"), success("trailers"),
        success("unknown-frame"),
    ]

    static let all = goaways + resets + breaks + unreadable + floods + usable
}

/// What happened under a name.
struct HTTP2Log: Sendable {
    /// Requests whose head came.
    var arrived: Int
    /// Requests that came whole and were acted upon.
    var executed: Int
    /// Those among them that were a POST.
    var posts: Int
    /// Bytes sent in a flood.
    var sent: Int
    /// Bytes of bodies.
    var received: Int
}

extension HTTP2Peer {
    /// What happened under a name, asked over a connection of its own.
    func log(_ name: String) async throws -> HTTP2Log {
        let json = try await manager(CurlTransport()).get(url("/log/" + name))
        func count(_ key: String) throws -> Int { try Int(#require(json[key]?.int)) }
        return try HTTP2Log(
            arrived: count("arrived"),
            executed: count("executed"),
            posts: count("posts"),
            sent: count("sent"),
            received: count("received")
        )
    }

    /// What happened under a name, asked until the server has read so many bytes of content, or 200 times: the last of
    /// them may still lie in its socket when the client has its answer.
    func log(_ name: String, received count: Int) async throws -> HTTP2Log {
        var latest = try await log(name)
        for _ in 0..<200 where latest.received < count { latest = try await log(name) }
        return latest
    }

    /// A manager that trusts this server.
    func manager(
        _ transport: CurlTransport,
        configure: (inout HTTPSessionManager.Configuration) -> Void = { _ in }
    ) -> HTTPSessionManager {
        var configuration = HTTPSessionManager.Configuration(securityPolicy: PinnedServer.lenient)
        configuration.timeout = .seconds(120)
        configure(&configuration)
        return HTTPSessionManager(configuration, transport: transport)
    }

    /// One for everybody.
    static let shared = Task {
        try await started { try HTTP2Peer(.selfSigned(PinnedServer.certificateOptions)) }
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests against the scripted HTTP/2 server.
    static var http2: Self {
        .enabled(if: HTTP2Peer.isInstalled, "its Python is installed by scripts/test")
    }
}

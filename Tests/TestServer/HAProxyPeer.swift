import FoundationEssentials
package import TestPKI

/// A real load balancer, haproxy, on 127.0.0.1: TLS, HTTP/1.1 and HTTP/2 in front of a server of a test.
///
/// `scripts/test` installs it; tests that need it are `.enabled(if: HAProxyPeer.isInstalled)`. It ends with the
/// object, and with the process of the tests however that ends.
package final class HAProxyPeer: Sendable {
    /// Whether there is a haproxy to start.
    package static var isInstalled: Bool { executable != nil }

    /// The port.
    package let port: Int
    private let directory: String
    private let process: LifelineProcess

    /// Starts it in front of a port of 127.0.0.1 and waits until it answers.
    ///
    /// - Parameters:
    ///   - identity: What it presents.
    ///   - server: The port behind it, which speaks HTTP/1.1 without TLS.
    ///   - protocols: What it offers, as ALPN names it.
    ///   - directives: More lines of the `frontend` section.
    /// - Throws: ``ServerError`` when it does not start.
    package init(
        _ identity: Identity,
        before server: Int,
        protocols: String = "h2,http/1.1",
        directives: String = ""
    ) throws {
        guard let executable = Self.executable else { throw ServerError("haproxy is not installed") }
        let socket = try ListeningSocket(.loopback)
        defer { socket.end() }
        port = socket.port
        directory = try temporaryDirectory("haproxy")
        do {
            let files = try identity.writePEM(to: directory)
            // It wants both in one file.
            let pem = try [files.chain, files.key].map { try String(contentsOfFile: $0, encoding: .utf8) }
            try Data(pem.joined().utf8).write(to: URL(filePath: directory + "/both.pem"))
            let text = """
                defaults
                    mode http
                    timeout connect 10s
                    timeout client 60s
                    timeout server 60s
                    retries 0
                frontend tests
                    bind fd@3 ssl crt \(directory)/both.pem alpn \(protocols)
                    option forwardfor
                    \(directives)
                    default_backend server
                backend server
                    server one 127.0.0.1:\(server)

                """
            try Data(text.utf8).write(to: URL(filePath: directory + "/haproxy.cfg"))
            process = try LifelineProcess(
                watched: executable,
                ["-db", "-f", directory + "/haproxy.cfg"],
                listeningOn: socket
            )
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        // Clients wait in the queue of the socket until it is up; this one speaks no TLS and is closed.
        guard let client = try? PlainClient(port: port), client.send("GET / HTTP/1.0\r\n\r\n".utf8),
            client.hasAnswerOrEnd(within: .seconds(60))
        else { throw ServerError("haproxy did not start") }
    }

    deinit {
        process.end()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A URL of the peer: `https://localhost:PORT/path`.
    package func url(_ target: String = "/") -> String {
        "https://localhost:\(port)\(target)"
    }

    private static let executable = program("/usr/sbin/haproxy")
}

import ChildProcess
package import FoundationEssentials
import Glibc
package import TestPKI

/// A real nginx with TLS and HTTP/2 on 127.0.0.1, for what an own server cannot prove.
///
/// Tests that need it are `.enabled(if: NginxPeer.isInstalled)`. It ends with the object, its directory too.
package final class NginxPeer: Sendable {
    /// What the peer is asked to be.
    package struct Options: Sendable {
        /// What it presents.
        package var identity: Identity
        /// Whether it offers HTTP/2.
        package var http2 = true
        /// The versions of TLS by nginx's names.
        package var protocols = ["TLSv1.2", "TLSv1.3"]
        /// Whose client certificates are wanted; nil asks for none.
        package var clientAuthority: IssuedCertificate?
        /// An OCSP response to staple.
        package var stapledOCSPResponse: Data?
        /// Files by their name below the root, as `big.bin`; any other path answers `hello`.
        package var files: [String: Data] = [:]
        /// More directives of the `server` block, as `keepalive_requests 2;`.
        package var directives = ""

        /// Makes options for an identity.
        package init(identity: Identity) {
            self.identity = identity
        }

        /// A copy with changes.
        package func with(_ change: (inout Self) -> Void) -> Self {
            var copy = self
            change(&copy)
            return copy
        }
    }

    /// One request, as nginx logged it when it was finished.
    package struct Entry: Sendable, Hashable {
        /// The number of the connection; requests on one connection share it.
        package var connection: Int
        /// Whether the connection resumed a TLS session.
        package var isResumed: Bool
        /// The version of TLS, as `TLSv1.3`.
        package var tls: String
        /// The version of HTTP, as `HTTP/2.0`.
        package var version: String
        /// The method.
        package var method: String
        /// The target.
        package var target: String
        /// The status.
        package var status: Int
        /// The host name that the client asked for (SNI); empty without.
        package var serverName: String
        /// `SUCCESS`, `NONE` or the reason why the client's certificate failed.
        package var clientVerification: String
    }

    /// Whether there is an nginx to start.
    package static var isInstalled: Bool { executable != nil }

    /// The port.
    package let port: Int
    private let process: ChildProcess
    private let directory: String
    private let log: NginxLog

    /// Starts nginx and waits until it answers; throws with its own words when it does not.
    package init(_ options: Options) throws {
        guard let executable = Self.executable else { throw ServerError("nginx is not installed") }
        let socket = try ListeningSocket(.loopback)
        port = socket.port
        directory = try temporaryDirectory("nginx")
        do {
            log = try NginxLog(path: directory + "/access.fifo")
            try NginxConfiguration(options: options, directory: directory, port: port).write()
            process = try ChildProcess(
                executable,
                ["-p", directory, "-c", directory + "/nginx.conf", "-e", directory + "/error.log"],
                // 3 is the first descriptor behind the standard ones; the variable names it.
                environment: ["NGINX=3;"],
                descriptors: [(socket.descriptor, 3)],
                isSilent: true
            )
        } catch {
            socket.end()
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        socket.end()
        guard answers() else {
            let words = try? String(contentsOfFile: directory + "/error.log", encoding: .utf8)
            throw ServerError("nginx did not start: \(words ?? "")")
        }
    }

    deinit {
        // The fast shutdown, which takes the worker along; SIGKILL would leave it behind.
        process.end()
        log.stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A URL of the peer: `https://localhost:PORT/path`.
    package func url(_ target: String = "/", host: String = "localhost") -> String {
        "https://\(host):\(port)\(target)"
    }

    /// The requests that are finished so far.
    package var entries: [Entry] { log.entries }

    /// Waits until so many requests are finished and logged; the fewer there are after the limit.
    package func entries(_ count: Int, upTo limit: Duration = .seconds(20)) async -> [Entry] {
        await log.wait(for: count, upTo: limit)
        return log.entries
    }

    /// Full or resumed handshakes that led to a request: the connections in the log.
    package var connections: Int { Set(entries.map(\.connection)).count }

    private static var executable: String? {
        ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first { access($0, X_OK) == 0 }
    }

    /// Asks without TLS, which nginx refuses in plain words as soon as it serves; closed before means that it
    /// ended.
    private func answers() -> Bool {
        guard let client = try? PlainClient(port: port) else { return false }
        client.send("GET \(NginxLog.probe) HTTP/1.0\r\n\r\n".utf8)
        return client.hasAnswer(within: .seconds(10))
    }
}

import FoundationEssentials
import Glibc
package import TestPKI

/// A scripted HTTP/2 server on 127.0.0.1, `Tests/Peers/http2.py`: for what no real server does on purpose.
///
/// The path of a request says what is done to it, `/rst/NAME` for instance, and `/log/NAME` tells how often requests
/// of that name arrived and were executed. `scripts/test` installs the Python that it runs on and names it in
/// the environment; tests that need it are `.enabled(if: HTTP2Peer.isInstalled)`. It ends with the object, and with the
/// process of the tests however that ends.
package final class HTTP2Peer: Sendable {
    /// Whether there is a Python with the package `h2`.
    package static var isInstalled: Bool { executable != nil }

    /// The port.
    package let port: Int
    private let process: LifelineProcess
    private let directory: String

    /// Starts the server and waits until it answers.
    package init(_ identity: Identity) throws {
        guard let executable = Self.executable else { throw ServerError("the package h2 is not installed") }
        let socket = try ListeningSocket(.loopback)
        defer { socket.end() }
        port = socket.port
        directory = try temporaryDirectory("http2")
        do {
            let files = try identity.writePEM(to: directory)
            process = try LifelineProcess(
                executable,
                [LifelineProcess.folder + "/http2.py", files.chain, files.key],
                listeningOn: socket
            )
            guard Self.answers(port) else {
                throw ServerError("the HTTP/2 server did not start; see its words above")
            }
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
    }

    deinit {
        process.end()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A URL of the peer: `https://localhost:PORT/path`.
    package func url(_ target: String = "/ok") -> String {
        "https://localhost:\(port)\(target)"
    }

    private static let executable: String? = ProcessInfo.processInfo.environment["HTTP2_PEER"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// Speaks no TLS, which the server ends as soon as it serves; Python takes seconds to start on a busy machine.
    private static func answers(_ port: Int) -> Bool {
        guard let client = try? PlainClient(port: port) else { return false }
        client.send("GET / HTTP/1.0\r\n\r\n".utf8)
        return client.hasAnswerOrEnd(within: .seconds(60))
    }
}

import FoundationEssentials
import Glibc

/// Python's gunicorn on 127.0.0.1: a server that this project did not write, with applications that say what they
/// received.
///
/// `scripts/test` installs it and names it in the environment; tests that need it are
/// `.enabled(if: GunicornPeer.isInstalled)`. It ends with the object, and with the process of the tests however that
/// ends.
package final class GunicornPeer: Sendable {
    /// What it serves.
    package enum Application: String, Sendable {
        /// httpbin, which echoes.
        case httpbin = "httpbin:app"
        /// `Tests/Peers/reader.py`, which reads forms as PHP and Rails do and undoes the coding of a body.
        case reader = "reader:app"
    }

    /// Whether there is a gunicorn to start.
    package static var isInstalled: Bool { executable != nil }

    /// One httpbin for everybody.
    package static var httpbin: GunicornPeer { get throws { try sharedHTTPBin.get() } }
    /// One reader for everybody.
    package static var reader: GunicornPeer { get throws { try sharedReader.get() } }

    /// The port.
    package let port: Int
    private let process: LifelineProcess

    /// Starts gunicorn and waits until it answers.
    package init(_ application: Application) throws {
        guard let executable = Self.executable else { throw ServerError("gunicorn is not installed") }
        let socket = try ListeningSocket(.loopback)
        defer { socket.end() }
        port = socket.port
        let folder = LifelineProcess.folder
        process = try LifelineProcess(
            executable,
            [
                "--config", folder + "/settings.py", "--chdir", folder, "--bind", "fd://3",
                application.rawValue,
            ],
            listeningOn: socket
        )
        guard answers() else { throw ServerError("gunicorn did not start; see its words above") }
    }

    deinit { process.end() }

    /// A URL of the peer: `http://127.0.0.1:PORT/path`.
    package func url(_ target: String = "/") -> String {
        "http://127.0.0.1:\(port)\(target)"
    }

    private static let executable: String? = ProcessInfo.processInfo.environment["GUNICORN"].flatMap {
        $0.isEmpty ? nil : $0
    }
    private static let sharedHTTPBin = Result { try GunicornPeer(.httpbin) }
    private static let sharedReader = Result { try GunicornPeer(.reader) }

    /// Python takes seconds to start on a busy machine.
    private func answers() -> Bool {
        guard let client = try? PlainClient(port: port) else { return false }
        client.send("GET / HTTP/1.0\r\n\r\n".utf8)
        return client.hasAnswer(within: .seconds(60))
    }
}

import ChildProcess
import FoundationEssentials
import Glibc

/// Python's gunicorn on 127.0.0.1: a server that this project did not write, with applications that say what they
/// received.
///
/// `scripts/test --peers` installs it and names it in the environment; tests that need it are
/// `.enabled(if: GunicornPeer.isInstalled)`. It ends with the object, and with the process of the tests however that
/// ends.
public final class GunicornPeer: Sendable {
    /// What it serves.
    public enum Application: String, Sendable {
        /// httpbin, which echoes.
        case httpbin = "httpbin:app"
        /// `Tests/Peers/reader.py`, which reads forms as PHP and Rails do and undoes the coding of a body.
        case reader = "reader:app"
    }

    /// Whether there is a gunicorn to start.
    public static var isInstalled: Bool { executable != nil }

    /// One httpbin for everybody.
    public static var httpbin: GunicornPeer { get throws { try sharedHTTPBin.get() } }
    /// One reader for everybody.
    public static var reader: GunicornPeer { get throws { try sharedReader.get() } }

    /// The port.
    public let port: Int
    private let process: ChildProcess
    /// Held open: when it closes, gunicorn ends.
    private let lifeline: Int32

    /// Starts gunicorn and waits until it answers.
    public init(_ application: Application) throws {
        guard let executable = Self.executable else { throw ServerError("gunicorn is not installed") }
        let socket = try ListeningSocket(.loopback)
        defer { socket.end() }
        port = socket.port
        var ends: [Int32] = [-1, -1]
        // Closed in every other child from the start: one that held the lifeline would keep gunicorn alive.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ServerError.system("make two sockets") }
        defer { close(ends[0]) }
        do {
            process = try ChildProcess(
                executable,
                [
                    "--config", Self.folder + "/settings.py", "--chdir", Self.folder, "--bind", "fd://3",
                    application.rawValue,
                ],
                environment: ["PYTHONDONTWRITEBYTECODE=1", "HOME=/"],
                descriptors: [(ends[0], 0), (socket.descriptor, 3)]
            )
        } catch {
            close(ends[1])
            throw error
        }
        lifeline = ends[1]
        guard answers() else { throw ServerError("gunicorn did not start; see its words above") }
    }

    deinit {
        close(lifeline)
        process.end()
    }

    /// A URL of the peer: `http://127.0.0.1:PORT/path`.
    public func url(_ target: String = "/") -> String {
        "http://127.0.0.1:\(port)\(target)"
    }

    private static let executable: String? = ProcessInfo.processInfo.environment["GUNICORN"].flatMap {
        $0.isEmpty ? nil : $0
    }
    private static let folder =
        #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Peers"
    private static let sharedHTTPBin = Result { try GunicornPeer(.httpbin) }
    private static let sharedReader = Result { try GunicornPeer(.reader) }

    /// Python takes seconds to start on a busy machine.
    private func answers() -> Bool {
        guard let client = try? PlainClient(port: port) else { return false }
        client.send("GET / HTTP/1.0\r\n\r\n".utf8)
        return client.hasAnswer(within: .seconds(60))
    }
}

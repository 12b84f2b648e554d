import ChildProcess
import Dispatch
import FoundationEssentials
import Glibc
import Locks

/// A program that ends with its standard input.
///
/// The other end of that input is held here, so that the program ends with the tests however they end.
final class LifelineProcess: Sendable {
    /// `Tests/Peers`, where the programs in Python are.
    static let folder = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Peers"

    private static let environment = [
        "PYTHONDONTWRITEBYTECODE=1", "HOME=/", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    ]

    private let process: ChildProcess
    /// Nil once it was closed.
    private let lifeline: Guarded<Int32?>

    /// Starts a program that reads its standard input, and ends when that ends.
    ///
    /// - Parameters:
    ///   - executable: The path.
    ///   - arguments: What follows its name.
    ///   - socket: What it inherits under the number 3; nil for nothing.
    ///   - environment: `NAME=value` each, beside what every program here gets.
    /// - Throws: The system's reason.
    init(
        _ executable: String,
        _ arguments: [String],
        listeningOn socket: ListeningSocket?,
        environment: [String] = []
    ) throws {
        var ends: [Int32] = [-1, -1]
        // Closed in every other child from the start: one that held the lifeline would keep the program alive.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ServerError.system("make two sockets") }
        defer { close(ends[0]) }
        var descriptors: [(here: Int32, there: Int32)] = [(ends[0], STDIN_FILENO)]
        if let socket { descriptors.append((socket.descriptor, 3)) }
        do {
            process = try ChildProcess(
                executable,
                arguments,
                environment: Self.environment + environment,
                descriptors: descriptors
            )
        } catch {
            close(ends[1])
            throw error
        }
        lifeline = Guarded(ends[1])
    }

    deinit { end() }

    /// Starts a program that does not care for its standard input, and says nothing.
    ///
    /// A shell reads for it, and kills it: it has nothing to save.
    convenience init(
        watched executable: String,
        _ arguments: [String],
        listeningOn socket: ListeningSocket? = nil,
        environment: [String] = []
    ) throws {
        let script = #"exec >/dev/null 2>&1; "$0" "$@" </dev/null & read -r end; kill -9 $!; wait"#
        try self.init(
            "/bin/sh",
            ["-c", script, executable] + arguments,
            listeningOn: socket,
            environment: environment
        )
    }

    /// Ends the program and waits until it did.
    func end() {
        let descriptor = lifeline.withLock { lifeline in
            defer { lifeline = nil }
            return lifeline
        }
        guard let descriptor else { return }
        close(descriptor)
        _ = process.wait()
    }
}

/// A port of 127.0.0.1 that is kept for a program that can be given a port only, and no socket.
///
/// The socket here is bound and does not listen: nobody else is given the port, and the program may bind it too,
/// as both say SO_REUSEADDR (socket(7)).
final class ReservedPort: Sendable {
    let number: Int
    private let descriptor: Int32

    init() throws(ServerError) {
        let socket = try ListeningSocket(reservedOn: .loopback)
        number = socket.port
        descriptor = socket.descriptor
    }

    deinit { close(descriptor) }

    /// Blocks until a program listens; false when it has not after a time that is long for each of them.
    func isAnswered() -> Bool {
        // There is no event to wait for: the port refuses until it does not.
        for _ in 0..<3_000 {
            if (try? PlainClient(port: number)) != nil { return true }
            _ = poll(nil, 0, 10)
        }
        return false
    }
}

/// Starts something on a thread that may wait for it: the few threads that tests run on are needed by others.
package func started<Peer: Sendable>(_ start: @escaping @Sendable () throws -> Peer) async throws -> Peer {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: start)) }
    }
}

/// Makes a directory of a new name, which begins with a word.
func temporaryDirectory(_ word: String) throws(ServerError) -> String {
    var template = Array((FileManager.default.temporaryDirectory.path + "/\(word)-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw .system("make a directory") }
    return String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// The first of some paths that is a program.
func program(_ paths: String...) -> String? {
    paths.first { access($0, X_OK) == 0 }
}

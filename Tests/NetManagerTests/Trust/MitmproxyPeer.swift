import ChildProcess
import Foundation
import Locks

/// A real interceptor: mitmproxy, which makes a certificate for any host by an authority of its own.
///
/// `scripts/test --peers` installs it and names it in the environment; elsewhere the tests that need it are skipped.
final class MitmproxyPeer: Sendable {
    /// What the environment names.
    static let executable = ProcessInfo.processInfo.environment["INTERCEPTOR"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// The port on 127.0.0.1.
    let port: Int
    /// The file of the authority that clients of the interceptor are made to trust.
    var authorityFile: String { directory + "/mitmproxy-ca-cert.pem" }
    private let process: ChildProcess
    private let directory: String
    private let lines: LineLog

    /// Starts it and waits until it listens.
    init(_ executable: String) async throws {
        directory = NSTemporaryDirectory() + "/interceptor-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let script = directory + "/tell.py"
        try Data(Self.script.utf8).write(to: URL(filePath: script))
        let pipe = Pipe()
        lines = LineLog(pipe.fileHandleForReading)
        // The server behind it has a certificate of a test, which it must not mind.
        process = try ChildProcess(
            executable,
            [
                "-q", "--listen-host", "127.0.0.1", "--listen-port", "0", "--ssl-insecure",
                "--set", "confdir=\(directory)", "-s", script,
            ],
            descriptors: [(pipe.fileHandleForWriting.fileDescriptor, STDOUT_FILENO)]
        )
        // Its end of the pipe is the only one now, so that the lines end with it.
        try pipe.fileHandleForWriting.close()
        let first = await lines.first { $0.hasPrefix("PORT ") }
        guard let port = first.flatMap({ Int($0.dropFirst(5)) }) else {
            throw Unexpected(what: "the interceptor did not start")
        }
        self.port = port
    }

    deinit {
        // It keeps nothing that would have to be written, and is slow to end when asked.
        process.end(by: SIGKILL)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// What it has told of so far, and what it tells of until there are so many words of a kind.
    ///
    /// `REQUEST` with method, URL and body for each request that it could read, `REFUSED` with a host for each
    /// client that ended a handshake since it did not accept the certificate.
    func words(until count: Int, of kind: String) async -> [String] {
        _ = await lines.first { [lines] _ in lines.all.count { $0.hasPrefix(kind) } >= count }
        return lines.all.filter { !$0.hasPrefix("PORT ") }
    }

    private static let script = """
        from mitmproxy import ctx

        def say(*words):
            print(*words, flush=True)

        def running():
            say("PORT", ctx.master.addons.get("proxyserver").listen_addrs()[0][1])

        def request(flow):
            say("REQUEST", flow.request.method, flow.request.pretty_url, flow.request.get_text())

        def tls_failed_client(data):
            say("REFUSED", data.conn.sni)

        """
}

/// The lines that a program has printed so far.
private final class LineLog: Sendable {
    private struct State {
        var text = ""
        var lines: [String] = []
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    init(_ output: FileHandle) {
        output.readabilityHandler = { [state] handle in
            let data = handle.availableData
            let waiter = state.withLock { state in
                state.hasEnded = data.isEmpty
                state.text += String(decoding: data, as: UTF8.self)
                var lines = state.text.components(separatedBy: "\n")
                state.text = lines.popLast() ?? ""
                state.lines += lines
                defer { state.waiter = nil }
                return state.waiter
            }
            if data.isEmpty { handle.readabilityHandler = nil }
            waiter?.resume()
        }
    }

    var all: [String] { state.withLock { $0.lines } }

    /// The first line that fulfils a condition, once there is one; nil when the program ended without.
    func first(where condition: @Sendable (String) -> Bool) async -> String? {
        while true {
            let (lines, hasEnded) = state.withLock { ($0.lines, $0.hasEnded) }
            if let line = lines.first(where: condition) { return line }
            if hasEnded { return nil }
            await withCheckedContinuation { continuation in
                let isNew = state.withLock { state in
                    if state.lines.count == lines.count, !state.hasEnded { state.waiter = continuation }
                    return state.waiter == nil
                }
                if isNew { continuation.resume() }
            }
        }
    }
}

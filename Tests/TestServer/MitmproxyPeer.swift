import ChildProcess
import Dispatch
import FoundationEssentials
import Glibc
import Locks

/// A real interceptor on 127.0.0.1: mitmproxy, which makes a certificate for any host by an authority of its own.
///
/// `scripts/test` and `scripts/demo --interceptor` install it and name it in the environment; tests that need it
/// are `.enabled(if: MitmproxyPeer.isInstalled)`. It ends with the object, and with the process however that ends.
package final class MitmproxyPeer: Sendable {
    /// Whether there is a mitmproxy to start.
    package static var isInstalled: Bool { executable != nil }

    /// The port.
    package let port: Int
    /// The certificate of the authority that clients of the interceptor are made to trust, PEM.
    package var authorityFile: String { directory + "/mitmproxy-ca-cert.pem" }
    private let process: ChildProcess
    private let directory: String
    private let lines: LineLog
    /// Held open: when it closes, the interceptor ends.
    private let lifeline: Int32

    /// Starts it and waits until it listens.
    package init() async throws {
        guard let executable = Self.executable else { throw ServerError("mitmproxy is not installed") }
        directory = FileManager.default.temporaryDirectory.path + "/interceptor-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let script = directory + "/tell.py"
        try Data(Self.script.utf8).write(to: URL(filePath: script))
        var ends: [Int32] = [-1, -1]
        // Closed in every other child from the start: one that held the lifeline would keep the interceptor alive.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ServerError.system("make two sockets") }
        defer { close(ends[0]) }
        do {
            // The server behind it has a certificate of a test, which it must not mind.
            process = try ChildProcess(
                executable,
                [
                    "-q", "--listen-host", "127.0.0.1", "--listen-port", "0", "--ssl-insecure",
                    "--set", "confdir=\(directory)", "-s", script,
                ],
                descriptors: [(ends[0], STDIN_FILENO), (ends[0], STDOUT_FILENO)]
            )
        } catch {
            close(ends[1])
            throw error
        }
        lifeline = ends[1]
        lines = LineLog(lifeline)
        let first = await lines.first { $0.hasPrefix("PORT ") }
        guard let port = first.flatMap({ Int($0.dropFirst(5)) }) else {
            throw ServerError("the interceptor did not start; see its words above")
        }
        self.port = port
    }

    deinit {
        // It keeps nothing that would have to be written, and is slow to end when asked.
        process.end(by: SIGKILL)
        // The reader has seen the end by then, or will.
        shutdown(lifeline, Int32(SHUT_RDWR))
        lines.close(lifeline)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// What it has told of so far, once it has told of so many words of a kind.
    ///
    /// `REQUEST` with method, URL and body for each request that it could read, `REFUSED` with a host for each
    /// client that ended a handshake since it did not accept the certificate.
    package func words(until count: Int, of kind: String) async -> [String] {
        _ = await lines.first { [lines] _ in lines.all.count { $0.hasPrefix(kind) } >= count }
        return lines.all.filter { !$0.hasPrefix("PORT ") }
    }

    private static let executable: String? = ProcessInfo.processInfo.environment["INTERCEPTOR"].flatMap {
        $0.isEmpty ? nil : $0
    }

    private static let script = """
        import os, threading
        from mitmproxy import ctx

        def end_with_the_tests():
            os.read(0, 1)
            os._exit(0)

        threading.Thread(target=end_with_the_tests, daemon=True).start()

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
        var rest: [UInt8] = []
        var lines: [String] = []
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())
    private let ended = DispatchSemaphore(value: 0)

    /// Reads until the end, on a thread of its own.
    init(_ descriptor: Int32) {
        DispatchQueue(label: "interceptor").async { [state, ended] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                LineLog.add(count > 0 ? buffer[..<count] : nil, to: state)
                if count <= 0 { break }
            }
            ended.signal()
        }
    }

    /// Closes the descriptor once it is not read any more.
    func close(_ descriptor: Int32) {
        ended.wait()
        Glibc.close(descriptor)
    }

    private static func add(_ bytes: ArraySlice<UInt8>?, to state: Guarded<State>) {
        let waiter = state.withLock { state in
            state.hasEnded = bytes == nil
            state.rest += bytes ?? []
            var parts = state.rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            state.rest = Array(parts.popLast() ?? [])
            state.lines += parts.map { String(decoding: $0, as: UTF8.self) }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
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

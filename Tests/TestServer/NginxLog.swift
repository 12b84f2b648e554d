import Glibc
import Locks

/// Reads nginx's access log through a named pipe, so that a test can wait for a line instead of looking again.
final class NginxLog: Sendable {
    /// The target of the request that asks whether nginx is up; it is kept out of the entries.
    static let probe = "/is-it-up"

    /// Fields that hold no space, between spaces; the last one may.
    static let format =
        "$connection $ssl_session_reused $ssl_protocol $server_protocol $request_method $request_uri $status "
        + "$ssl_server_name- $ssl_client_verify"

    private struct State {
        var entries: [NginxPeer.Entry] = []
        var observers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        var nextObserver = 0
        var thread: ServerThread?
    }

    private let state = Guarded(State())
    private let stopGate = Gate()

    init(path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw ServerError.system("make a named pipe") }
        // Opened for both ways: the pipe never ends, whether nginx has it open or not.
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw ServerError.system("open a named pipe") }
        do {
            let (state, stop) = (state, stopGate)
            let thread = try ServerThread { Self.read(descriptor, into: state, until: stop) }
            state.withLock { $0.thread = thread }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { stop() }

    func stop() {
        let thread = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        stopGate.open()
        thread?.join()
    }

    var entries: [NginxPeer.Entry] { state.withLock { $0.entries } }

    func wait(for count: Int, upTo limit: Duration) async {
        let number = state.withLock { state in
            state.nextObserver += 1
            return state.nextObserver
        }
        let expiry = Task { [state] in
            try await Task.sleep(for: limit)
            state.withLock { $0.observers.removeValue(forKey: number) }?.continuation.resume()
        }
        defer { expiry.cancel() }
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.entries.count < count { state.observers[number] = (count, continuation) }
                return state.entries.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    private static func read(_ descriptor: Int32, into state: Guarded<State>, until stop: Gate) {
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var waits = [descriptor, stop.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            if poll(&waits, 2, -1) < 0, errno != EINTR { return }
            if waits[1].revents != 0 { return }
            guard waits[0].revents != 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            text += buffer[..<count]
            while let end = text.firstIndex(of: 10) {
                let entry = NginxPeer.Entry(line: String(decoding: text[..<end], as: UTF8.self))
                text.removeFirst(end + 1)
                if let entry { add(entry, to: state) }
            }
        }
    }

    private static func add(_ entry: NginxPeer.Entry, to state: Guarded<State>) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let ready = state.observers.filter { $0.value.count <= state.entries.count }
            for number in ready.keys { state.observers[number] = nil }
            return ready.values.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }
}

extension NginxPeer.Entry {
    /// Reads a line of the log; nil for the probe and for what is no line of it.
    fileprivate init?(line: String) {
        let fields = line.split(separator: " ", maxSplits: 8).map(String.init)
        guard fields.count == 9, fields[5] != NginxLog.probe else { return nil }
        guard let connection = Int(fields[0]), let status = Int(fields[6]) else { return nil }
        self.init(
            connection: connection,
            isResumed: fields[1] == "r",
            tls: fields[2],
            version: fields[3],
            method: fields[4],
            target: fields[5],
            status: status,
            // The hyphen keeps the field from being empty.
            serverName: String(fields[7].dropLast()),
            clientVerification: fields[8]
        )
    }
}

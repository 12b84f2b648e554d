import Glibc

/// A thread of a server, to be joined once.
struct ServerThread: Sendable {
    private let handle: pthread_t

    /// Runs a body on a new thread on which SIGPIPE is blocked: a client that left is an error, no signal.
    ///
    /// The stack has 512 KiB: enough for handlers and TLS, small enough for 1,500 connections.
    init(_ body: @escaping @Sendable () -> Void) throws(ServerError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 512 << 10)
        let box = Unmanaged.passRetained(Box(body))
        var handle = pthread_t()
        let result = pthread_create(&handle, &attributes, run, box.toOpaque())
        guard result == 0 else {
            box.release()
            throw ServerError("cannot start a thread: \(String(cString: strerror(result)))")
        }
        self.handle = handle
    }

    func join() {
        pthread_join(handle, nil)
    }
}

private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    guard let argument else { return nil }
    Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}

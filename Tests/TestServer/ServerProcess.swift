import Glibc

/// A program that runs beside the tests and listens on a socket that was made here.
///
/// No other process can take the port in between, and clients that come before the program is ready wait in the
/// queue.
struct ServerProcess: Sendable {
    private let process: pid_t

    /// Starts a program.
    ///
    /// It inherits the descriptors here under the numbers there; all others that the tests open are closed in it. Its
    /// environment is the one given and nothing else.
    init(
        _ executable: String,
        _ arguments: [String],
        environment: [String],
        descriptors: [(here: Int32, there: Int32)]
    ) throws(ServerError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (here, there) in descriptors { posix_spawn_file_actions_adddup2(&actions, here, there) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads that tests run on block most signals, and a child would inherit that: no SIGTERM would end it.
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = ([executable] + arguments).map { strdup($0) } + [nil]
        var environment = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var process = pid_t()
        let result = posix_spawn(&process, executable, &actions, &attributes, &arguments, &environment)
        guard result == 0 else {
            throw ServerError("cannot start \(executable): \(String(cString: strerror(result)))")
        }
        self.process = process
    }

    /// Asks the program to end, and waits until it did; to be called once.
    func end() {
        kill(process, SIGTERM)
        waitpid(process, nil, 0)
    }
}

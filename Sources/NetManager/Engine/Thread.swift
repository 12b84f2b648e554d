import CLinux
import Glibc

/// A thread of the operating system.
enum Thread {
    /// Carries the work into the thread.
    private final class Work: Sendable {
        private let name: String
        private let body: @Sendable () -> Void

        init(name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }

        func run() {
            // The kernel keeps 15 bytes of a name. The thread names itself: it may have ended, and its memory be gone,
            // before the one who made it does another thing.
            pthread_setname_np(pthread_self(), String(name.prefix(15)))
            body()
        }
    }

    /// Starts a thread that takes no signals: they are the application's, and SIGPIPE is an error code here.
    ///
    /// Nobody has to join it.
    /// - Returns: False when the system gives no thread.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // A thread inherits the mask of the one that makes it.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(name: name, body))
        let result = pthread_create(
            &thread,
            &attributes,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            work.toOpaque()
        )
        guard result == 0 else {
            work.release()
            return false
        }
        return true
    }
}

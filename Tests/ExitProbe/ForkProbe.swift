import Glibc
import NetManager

/// Forks while the engine's thread runs.
enum ForkProbe {
    /// - Returns: The exit status: 0 when the child could end at once, and its parent goes on.
    static func run(_ url: URL) async -> Int32 {
        alarm(60)
        let transport = CurlTransport()
        let request = HTTPRequest(url: url)
        func answers() async -> Bool {
            (try? await transport.send(request, context: TransportContext()).head.status) == 200
        }
        guard await answers() else { return 3 }
        // Swift hides it, as a child may do little; C libraries call it all the same.
        guard let function = dlsym(nil, "fork") else { return 4 }
        let fork = unsafeBitCast(function, to: (@convention(c) () -> pid_t).self)
        let start = ContinuousClock.now
        for exitsInOrder in [true, false] {
            let child = fork()
            if child == 0 {
                alarm(30)
                transport.shutdown()
                if exitsInOrder { exit(0) } else { _exit(0) }
            }
            var status: Int32 = -1
            guard child > 0, waitpid(child, &status, 0) == child, status == 0 else { return 5 }
        }
        // The exit handler gives each thread two seconds to end.
        guard start.duration(to: .now) < .seconds(2), await answers() else { return 6 }
        return 0
    }
}

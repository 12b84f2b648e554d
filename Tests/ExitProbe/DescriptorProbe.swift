import Glibc
import NetManager
import Synchronization

/// Makes a transport when the process has no descriptor left, and uses it again when there are some.
enum DescriptorProbe {
    /// The exit status when libdispatch has ended the process.
    ///
    /// It looks at its threads in /proc every now and then, takes a file that it cannot open for a thread that has ended,
    /// and traps ("workq: registered worker exited prematurely").
    private static let dispatchGaveUp: Int32 = 77

    /// Where libdispatch lies in memory.
    private static let dispatchStart = Atomic<UInt>(0)
    private static let dispatchEnd = Atomic<UInt>(0)

    /// Turns a trap inside of libdispatch into an exit status; any other one ends the process as before.
    private static func watchDispatch() {
        guard let maps = fopen("/proc/self/maps", "re") else { return }
        defer { fclose(maps) }
        var buffer = [CChar](repeating: 0, count: 1024)
        while fgets(&buffer, Int32(buffer.count), maps) != nil {
            let line = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard line.contains("/libdispatch.so") else { continue }
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2 else { continue }
            if dispatchStart.load(ordering: .relaxed) == 0 {
                dispatchStart.store(ends[0], ordering: .relaxed)
            }
            dispatchEnd.store(ends[1], ordering: .relaxed)
        }
        var action = sigaction()
        action.__sigaction_handler.sa_sigaction = { number, information, _ in
            let place = UInt(bitPattern: information?.pointee._sifields._sigfault.si_addr)
            if place >= DescriptorProbe.dispatchStart.load(ordering: .relaxed),
                place < DescriptorProbe.dispatchEnd.load(ordering: .relaxed)
            {
                _exit(DescriptorProbe.dispatchGaveUp)
            }
            // The instruction is tried again on return.
            signal(number, SIG_DFL)
        }
        action.sa_flags = SA_SIGINFO
        for number in [SIGILL, SIGTRAP] { sigaction(number, &action, nil) }
    }

    /// - Returns: The exit status: 0 when each request had its own outcome.
    static func run(_ url: URL) async -> Int32 {
        watchDispatch()
        // What the runtime needs for its timers is there before there is nothing left.
        try? await Task.sleep(for: .milliseconds(1))
        var limit = rlimit(rlim_cur: 64, rlim_max: 64)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 2 }
        var held: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { break }
            held.append(descriptor)
        }
        let transport = CurlTransport()
        let request = HTTPRequest(url: url)
        for _ in 0..<2 {
            do {
                _ = try await transport.send(request, context: TransportContext())
                return 3
            } catch let error as RequestError {
                guard case .cannotConnect = error.kind, "\(error)".contains("descriptor") else { return 4 }
            } catch {
                return 5
            }
        }
        for descriptor in held { close(descriptor) }
        guard let response = try? await transport.send(request, context: TransportContext()),
            response.head.status == 200
        else { return 6 }
        return 0
    }
}

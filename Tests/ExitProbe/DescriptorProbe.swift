import Glibc
import NetManager

/// Makes a transport when the process has no descriptor left, and uses it again when there are some.
enum DescriptorProbe {
    /// - Returns: The exit status: 0 when each request had its own outcome.
    static func run(_ url: URL) async -> Int32 {
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

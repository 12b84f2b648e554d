import Glibc
import NetManager
import SlowResolver

/// Asks for a host whose name is never resolved, beside a server that answers.
enum ResolverProbe {
    /// Far more than the limits below, and less than a test may take.
    private static let tooLong = Duration.seconds(10)

    /// - Returns: The exit status: 0 when nothing waited for the resolver.
    static func run(_ url: URL) async -> Int32 {
        nm_replace_resolver()
        // If anything waits for the resolver, it waits for ever.
        alarm(60)
        guard let never = URL(string: "http://never.test/") else { return 2 }
        let transport = CurlTransport()
        func answers() async -> Bool {
            let context = TransportContext(deadline: .now + tooLong)
            return (try? await transport.send(HTTPRequest(url: url), context: context).head.status) == 200
        }
        guard await answers() else { return 3 }
        let start = ContinuousClock.now
        do {
            let context = TransportContext(deadline: .now + .milliseconds(100))
            _ = try await transport.send(HTTPRequest(url: never), context: context)
            return 4
        } catch let error as RequestError {
            guard case .timedOut = error.kind else { return 5 }
        } catch {
            return 6
        }
        guard await answers() else { return 7 }
        let call = Task {
            try await transport.send(HTTPRequest(url: never), context: TransportContext())
        }
        guard await answers() else { return 8 }
        call.cancel()
        guard case .failure(is CancellationError) = await call.result, await answers() else { return 9 }
        // Connections are closed when the transport goes, and handles with them.
        transport.shutdown()
        return start.duration(to: .now) < tooLong ? 0 : 10
    }
}

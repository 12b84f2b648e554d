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
        func answers() async -> Bool { await Self.answers(transport, url) }
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

    private static func answers(_ transport: CurlTransport, _ url: URL) async -> Bool {
        let context = TransportContext(deadline: .now + tooLong)
        return (try? await transport.send(HTTPRequest(url: url), context: context).head.status) == 200
    }

    /// Far more requests than names are looked up at a time, whose time is over while the resolver says nothing.
    ///
    /// - Returns: The exit status: 0 when the look-ups that nobody waits for are bounded, the others go on when the resolver
    ///   answers again, and what needs no resolver has gone on all the time.
    static func runMany(_ url: URL) async -> Int32 {
        nm_replace_resolver()
        alarm(60)
        guard let port = url.port, let never = URL(string: "http://never.test:\(port)/") else { return 2 }
        let transport = CurlTransport()
        let timeouts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    var timeouts = 0
                    for _ in 0..<10 {
                        let context = TransportContext(deadline: .now + .milliseconds(50))
                        do {
                            _ = try await transport.send(HTTPRequest(url: never), context: context)
                        } catch {
                            if case .timedOut = (error as? RequestError)?.kind { timeouts += 1 }
                        }
                    }
                    return timeouts
                }
            }
            return await group.reduce(0, +)
        }
        guard timeouts == 1_000 else { return 3 }
        guard nm_look_ups() == 256 else { return 4 }
        guard await answers(transport, url) else { return 5 }
        // One that waits, and one that is cancelled while it does.
        async let patient = answers(transport, never)
        let cancelled = Task { await answers(transport, never) }
        guard await answers(transport, url) else { return 6 }
        cancelled.cancel()
        guard await !cancelled.value, nm_look_ups() == 256 else { return 7 }
        nm_let_resolver_answer()
        guard await patient else { return 8 }
        return await answers(transport, never) ? 0 : 9
    }
}

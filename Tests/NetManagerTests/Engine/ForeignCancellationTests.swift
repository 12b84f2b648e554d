import Dispatch
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Where the code runs that a user's own code has registered for its cancellation.
@Suite struct ForeignCancellationTests {
    private let transport = CurlTransport()

    @Test func `a sequence that is cancelled with its upload is not told on the engine's thread`()
        async throws
    {
        let server = try TestServer { .text("\($0.bodyLength)") }
        let (pieces, source) = AsyncStream<Data>.makeStream()
        let (places, place) = AsyncStream<Bool>.makeStream()
        source.onTermination = { [engine = transport.engine] _ in
            place.yield(engine.isCurrentThread)
            place.finish()
        }
        source.yield(Data("begin".utf8))
        let url = server.url()
        let call = Task { try await transport.fetch(.post, url, body: .stream(pieces)) }
        #expect(await server.until { $0.requests == 1 })
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        for await isOnEngine in places { #expect(!isOnEngine) }
    }

    @Test func `a hook that is cancelled with its call is not told on the engine's thread`() async throws {
        let pinned = try PinnedServer()
        let isAsked = Latch()
        let never = Latch()
        let (places, place) = AsyncStream<Bool>.makeStream()
        let hook = ChallengeHook { [engine = transport.engine] _, _ in
            await withTaskCancellationHandler {
                isAsked.open()
                await never.wait()
            } onCancel: {
                place.yield(engine.isCurrentThread)
                place.finish()
            }
            return .use
        }
        let manager = hook.manager(pinned.pinned, transport)
        await hook.cancelCall(manager, pinned.server.url(), once: isAsked)
        for await isOnEngine in places { #expect(!isOnEngine) }
    }
}

import FoundationEssentials
import NetManager
import SecurityPolicy
import TestServer
import Testing

/// A program's hook that notes what it is asked, and managers that have it.
final class ChallengeHook: Sendable {
    private let asked = Shared<[ServerTrustChallenge]>([])
    private let threads = Shared<Set<String>>([])
    private let answer: @Sendable (ServerTrustChallenge, Int) async -> ServerTrustChallenge.Answer

    /// The answer is given the challenge and its number, from 1.
    init(_ answer: @escaping @Sendable (ServerTrustChallenge, Int) async -> ServerTrustChallenge.Answer) {
        self.answer = answer
    }

    convenience init(_ answer: ServerTrustChallenge.Answer) {
        self.init { _, _ in answer }
    }

    var challenges: [ServerTrustChallenge] { asked.value }

    /// The names of the threads on which it was called.
    var threadNames: Set<String> { threads.value }

    func configuration(
        _ policy: SecurityPolicy,
        timeout: Duration = .seconds(300)
    ) -> HTTPSessionManager.Configuration {
        var configuration = HTTPSessionManager.Configuration(securityPolicy: policy)
        configuration.timeout = timeout
        configuration.serverTrustChallenge = { challenge in
            let thread = Self.threadName()
            self.threads.withLock { _ = $0.insert(thread) }
            let number = self.asked.withLock { asked in
                asked.append(challenge)
                return asked.count
            }
            return await self.answer(challenge, number)
        }
        return configuration
    }

    func manager(
        _ policy: SecurityPolicy,
        _ transport: CurlTransport = CurlTransport(),
        timeout: Duration = .seconds(300)
    ) -> HTTPSessionManager {
        HTTPSessionManager(configuration(policy, timeout: timeout), transport: transport)
    }

    /// A call through this hook that is cancelled once the hook has been asked ends as cancelled.
    func cancelCall(_ manager: HTTPSessionManager, _ url: String, once isAsked: Latch) async {
        let call = Task { try await manager.get(url) }
        await isAsked.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    private static func threadName() -> String {
        let name = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
        return String(decoding: name.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}

extension RequestError {
    /// Why the server was refused; nil when that is not what failed.
    var trustError: TrustError? {
        if case .untrustedServer(let reason) = kind { reason } else { nil }
    }
}

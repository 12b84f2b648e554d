import FoundationEssentials
import NetManager
import SecurityPolicy

/// Makes a connection under a host's policy and tells what came of it.
struct HostCheck {
    /// What came of it.
    enum Outcome: Sendable {
        case trusted(TrustDecision)
        case refused(TrustError)
        /// It could not be asked, and why.
        case unreachable(String)
    }

    var policies: HostPolicies
    var timeout: Duration

    func outcome(of server: ServerAddress) async -> Outcome {
        guard policies.policy(for: server.host) != nil else {
            return .unreachable("the file has no policy for this host, and allows no others")
        }
        guard let url = URL(string: server.url) else { return .unreachable("\(server.url) is no URL") }
        let recorder = CallRecorder()
        var configuration = HTTPSessionManager.Configuration()
        configuration.hostPolicies = policies
        configuration.timeout = timeout
        configuration.redirectPolicy = .stop
        configuration.eventMonitors = [recorder]
        do {
            _ = try await HTTPSessionManager(configuration).send(HTTPRequest(.head, url: url))
        } catch let error as RequestError {
            if case .untrustedServer(let reason) = error.kind { return .refused(reason) }
            // What comes after the handshake is no matter of trust: it may have been told all the same.
            guard error.attempt > 0, let decision = await recorder.decision() else {
                return .unreachable("\(error)")
            }
            return .trusted(decision)
        } catch {
            return .unreachable("\(error)")
        }
        guard let decision = await recorder.decision() else {
            return .unreachable("the transport did not say why the server was trusted")
        }
        return .trusted(decision)
    }
}

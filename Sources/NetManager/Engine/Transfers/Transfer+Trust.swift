import CCurlShims
import COpenSSL
import SecurityPolicy

/// Who may be talked to.
extension Transfer {
    /// A TLS handshake is about to begin, with the proxy or with the server.
    /// - Returns: False when it must not.
    func prepareTLS(_ sslContext: UnsafeMutableRawPointer) -> Bool {
        guard let handle else { return false }
        clock.enter(.tls, now: MonotonicClock.nanoseconds)
        defer { handshakes += 1 }
        if let policy = proxy.policy, handshakes == 0 {
            let verification = TLSVerification(policy: policy, policyID: policy.policyID, host: proxy.host)
            proxyVerification = verification
            return verification.install(on: sslContext)
        }
        let verification = TLSVerification(
            policy: plan.policy,
            policyID: plan.policyID,
            host: handle.applied.host
        )
        verification.onRefusal = refusalReporter
        verification.verdicts = verdicts
        if plan.serverTrustHook != nil {
            verification.desk = TLSVerification.ChallengeDesk(
                challenges: challenges,
                port: handle.applied.port
            )
        }
        // libcurl may have left the connection that it tried first for this one.
        leaveConnection()
        self.verification = verification
        return verification.install(on: sslContext)
    }

    /// Tells the observer of a server that was refused, or let through all the same; nil when there is none.
    var refusalReporter: (@Sendable (TrustError, ServerTrust, Bool) -> Void)? {
        guard let observer = plan.trustObserver, let handle else { return nil }
        let (host, port, policy) = (handle.applied.host, handle.applied.port, plan.policy)
        return { error, trust, isLetThrough in
            observer(
                TrustReport(
                    error,
                    from: trust,
                    host: host,
                    port: port,
                    policy: policy,
                    isAudit: isLetThrough
                )
            )
        }
    }

    /// Keeps libcurl from comparing names where the program's hook lets a server pass that the policy refuses: the policy
    /// itself compares them again, and what it says must be what the hook was told.
    func letOverruledNamePass() {
        guard plan.serverTrustHook != nil, let handle, handle.applied.isSecure,
            challenges.memory.overrules(
                host: handle.applied.host,
                port: handle.applied.port,
                policyID: plan.policyID,
                now: MonotonicClock.nanoseconds
            )
        else { return }
        // Without it libcurl refuses, which is safe.
        try? handle.checkNames(false)
    }

    /// A server that answers has accepted the client's certificate, or that there is none.
    func settleClientCertificate() {
        guard let verification, verification.clientCertificate.isPending else { return }
        verification.clientCertificate.isSettled = true
        handle?.closeAfterUse(false)
    }

    /// Whether the connection is one that this transfer's own policy has verified.
    func trustFailure(of handle: EasyHandle) -> TransferFailure? {
        guard let ssl = nm_easy_getinfo_ssl(handle.pointer).map({ OpaquePointer($0) }),
            let verification = TLSVerification.current(of: ssl),
            verification.policyID == plan.policyID, verification.host == handle.applied.host
        else {
            return .untrusted(.untrusted(code: 0, reason: "the connection was verified under another policy"))
        }
        if self.verification !== verification { leaveConnection() }
        self.verification = verification
        if plan.context.metrics != nil { tlsDescription = TLSVerification.description(of: ssl) }
        switch verification.ensureVerified(ssl) {
        case .success:
            isConnected(multiplexing: TLSVerification.multiplexes(ssl))
            return nil
        case .failure(let error): return .untrusted(error)
        }
    }

    /// Takes the connection for this request alone, where it carries one at a time.
    ///
    /// libcurl (7.88) knows only of a host whether its connections carry many, as the newest one does. Where some servers
    /// behind a name speak HTTP/2 and some do not, it would write a second request over a connection of HTTP/1.1 that is in
    /// use, and give one request the answer to the other.
    /// - Returns: False when another request is under way on it.
    func takeConnection() -> Bool {
        guard !multiplexes, let handle, handle.applied.isSecure, let verification else { return true }
        // One that libcurl has ended has no connection any more, though it may still be named.
        if let user = verification.user, user !== self, let other = user.handle,
            let its = nm_easy_getinfo_ssl(other.pointer), its == nm_easy_getinfo_ssl(handle.pointer)
        {
            return false
        }
        verification.user = self
        return true
    }

    /// Gives up a connection that was taken.
    func leaveConnection() {
        if let verification, verification.user === self { verification.user = nil }
    }
}

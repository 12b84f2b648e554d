public import FoundationEssentials
public import HTTPMessage
import Locks

/// Sends a bearer token (RFC 6750) with the requests to its origins, and has it refreshed when a server refuses it.
///
/// It is an interceptor: put it last into ``HTTPSessionManager/Configuration/interceptors``, so that what stands before it
/// cannot lead its requests elsewhere. Managers may share one.
///
/// However many requests need a new token at a time, the closure runs once, and all of them wait for it: those that a
/// server answered with 401, those that come meanwhile, and those that find no token or one that is about to expire.
/// When it fails, all of them fail with its error, also those whose 401 is still on its way. A request that was refused
/// with a token that has been replaced since is sent with the new one at once. A refused request is sent again once, and
/// only if its body can be sent again; otherwise the caller gets the 401, and the next request has the token refreshed
/// before it is sent. A second 401 is the caller's.
///
/// Only requests to the given origins (scheme, host and port) get the token, and only their 401 leads to a refresh; a
/// redirect that leads elsewhere leaves the token behind. A request that has an `Authorization` field already is left
/// alone, and so are requests that the closure makes itself, over whatever manager.
public final class BearerAuthentication: Interceptor {
    /// A token, and when it expires.
    public struct Token: Sendable, Hashable {
        /// The token as it stands in the field.
        public var value: String
        /// When it expires; nil when nobody knows.
        public var expires: Date?

        /// Makes a token.
        public init(_ value: String, expires: Date? = nil) {
            self.value = value
            self.expires = expires
        }
    }

    /// Gets a new token.
    /// - Parameter token: The token that is refused or expires; nil when there is none.
    /// - Returns: The new one.
    public typealias Refresh = @Sendable (_ token: Token?) async throws -> Token

    /// Whose closures the task runs, so that their own requests do not wait for themselves.
    @TaskLocal private static var refreshing: Set<ObjectIdentifier> = []

    private let origins: Set<URLReference.Origin>
    private let leeway: Duration
    private let timeout: Duration
    private let refresh: Refresh
    private let state: Guarded<BearerState>

    /// Makes an authentication.
    /// - Parameters:
    ///   - origins: URLs of the servers that may see the token; their paths do not count. URLs that are neither http nor
    ///     https count for none.
    ///   - token: The token to begin with; nil to get one before the first request.
    ///   - leeway: How long before it expires a token is replaced; 30 seconds by default.
    ///   - timeout: How long the closure may take; a minute by default. Then those who wait fail, the closure's task is
    ///     cancelled, and what it brings later is dropped.
    ///   - refresh: Gets a new token, on Swift's own threads; never twice at a time, unless it goes on after it was cancelled.
    ///     While four that were given up do so, no further one is begun, and who needs a token fails at once.
    public init(
        for origins: [URL],
        token: Token? = nil,
        leeway: Duration = .seconds(30),
        timeout: Duration = .seconds(60),
        refresh: @escaping Refresh
    ) {
        self.origins = Set(origins.compactMap { URLReference($0.absoluteString).origin })
        self.leeway = leeway
        self.timeout = timeout
        self.refresh = refresh
        state = Guarded(BearerState(token: token))
    }

    /// The token that requests get at this moment; setting it replaces it, as after a login or, with nil, a logout.
    ///
    /// A refresh that is under way is cancelled and does not count any more then: those who wait for it get the token that
    /// was set, or fail as cancelled when it was nil.
    public var token: Token? {
        get { state.withLock(\.token) }
        set {
            let (waiters, outcome, work) = state.withLock { $0.set(newValue) }
            for waiter in waiters { waiter.settle(outcome) }
            work?.settle(.failure(CancellationError()))
        }
    }

    /// Sends a request with the token, and again with a new one when the first is refused.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        guard !Self.refreshing.contains(ObjectIdentifier(self)), isOurs(request.url),
            !request.headers.contains("Authorization")
        else {
            return try await next(request)
        }
        let used = try await currentToken(replacing: nil)
        let response = try await next(used.authorizing(request))
        // A way that led elsewhere meanwhile came back without the token.
        guard response.head.status == 401, isOurs(response.head.url),
            response.redirects.allSatisfy({ isOurs($0.url) })
        else { return response }
        guard request.body?.isReplayable ?? true else {
            state.withLock { $0.distrust(used) }
            return response
        }
        await response.body.discard()
        let fresh = try await currentToken(replacing: used)
        return try await next(fresh.authorizing(request))
    }

    private func isOurs(_ url: URL) -> Bool {
        URLReference(url.absoluteString).origin.map(origins.contains) ?? false
    }

    /// The token to use, a new one if need be.
    /// - Parameter refused: The token that a server refused; nil when none was sent yet.
    /// - Returns: The token.
    /// - Throws: What the closure throws, or `CancellationError`.
    private func currentToken(replacing refused: BearerState.Issued?) async throws -> BearerState.Issued {
        let mustBeValidUntil = Date(timeIntervalSinceNow: Double(leeway.milliseconds) / 1000)
        let race = Race<BearerState.Issued>()
        let step = state.withLock { $0.step(for: race, refused: refused, validUntil: mustBeValidUntil) }
        switch step {
        case .use(let issued): return issued
        case .fail(let error): throw error
        case .giveUp: throw RefreshTimedOut(limit: timeout)
        case .wait: break
        case .begin(let flight, let old): begin(flight, replacing: old)
        }
        return try await withTaskCancellationHandler {
            try await race.value
        } onCancel: {
            race.settle(.failure(CancellationError()))
        }
    }

    private func begin(_ flight: UInt64, replacing old: Token?) {
        let race = Race<Token>()
        state.withLock { $0.begin(flight, race) }
        Task.detached { [self] in
            let inner = Self.refreshing.union([ObjectIdentifier(self)])
            let work = Self.$refreshing.withValue(inner) {
                Task {
                    let result: Result<Token, any Error>
                    do {
                        result = .success(try await refresh(old))
                    } catch {
                        result = .failure(error)
                    }
                    state.withLock { $0.end(flight) }
                    race.settle(result)
                }
            }
            let timer = Task {
                try await ContinuousClock().sleepLong(until: .now + min(timeout, .longest))
                race.settle(.failure(RefreshTimedOut(limit: timeout)))
            }
            let result: Result<Token, any Error>
            do {
                result = .success(try await race.value)
            } catch {
                result = .failure(error)
            }
            timer.cancel()
            work.cancel()
            land(flight, result)
        }
    }

    /// A refresh is over; it counts only if it is the one that is waited for.
    private func land(_ flight: UInt64, _ result: Result<Token, any Error>) {
        let landed = state.withLock { $0.land(flight, result) }
        guard let (waiters, outcome) = landed else { return }
        for waiter in waiters { waiter.settle(outcome) }
    }

    /// The closure that gets a new token took too long, or has before and does not end.
    public struct RefreshTimedOut: Error, CustomStringConvertible {
        /// How long it had.
        public let limit: Duration

        /// What happened, and what to do.
        public var description: String {
            "No new bearer token came within \(limit). Raise the timeout, or let the refresh end earlier."
        }
    }
}

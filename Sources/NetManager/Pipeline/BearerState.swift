import FoundationEssentials
import HTTPMessage

/// The token of a ``BearerAuthentication``, and who waits for the next one: decisions without waiting for anybody.
struct BearerState {
    /// A token that a request was given.
    struct Issued: Sendable {
        let value: String
        /// Grows with every new token.
        let generation: UInt64
        /// When the request got it, in numbers that grow.
        let time: UInt64

        func authorizing(_ request: HTTPRequest) -> HTTPRequest {
            var request = request
            request.headers["Authorization"] = "Bearer \(value)"
            return request
        }
    }

    /// What a request has to do.
    enum Step {
        case use(Issued)
        case fail(any Error)
        /// Wait for the refresh that is under way.
        case wait
        /// Wait for nothing: too many refreshes that were given up have not ended.
        case giveUp
        /// Begin a refresh, and wait for it.
        case begin(UInt64, replacing: BearerAuthentication.Token?)
    }

    /// How many closures may go on that were given up, since they do not end when they are cancelled.
    static let mostAbandoned = 4

    private(set) var token: BearerAuthentication.Token?
    private var generation: UInt64 = 0
    private var time: UInt64 = 0
    /// Whether the token was refused although nobody could ask for a new one.
    private var isDistrusted = false
    /// The number of the refresh under way; nil when there is none.
    private var flight: UInt64?
    private var lastFlight: UInt64 = 0
    private var waiters: [Race<Issued>] = []
    /// The closures that have not ended, and what ends the wait for each.
    private var running: [UInt64: Race<BearerAuthentication.Token>] = [:]
    /// The refresh that failed last: which token it was to replace, and when.
    private var failure: (generation: UInt64, time: UInt64, error: any Error)?

    init(token: BearerAuthentication.Token?) {
        self.token = token
    }

    /// What a request has to do that has no token yet, or whose token was refused.
    mutating func step(for waiter: Race<Issued>, refused: Issued?, validUntil date: Date) -> Step {
        if let refused {
            if flight == nil, refused.generation != generation, let issued = issue() { return .use(issued) }
            if let failure, failure.generation == refused.generation, refused.time < failure.time {
                // It was on its way when the refresh failed that was for it too.
                return .fail(failure.error)
            }
        } else if flight == nil, !isDistrusted, let issued = issue(validUntil: date) {
            return .use(issued)
        }
        guard flight == nil else {
            waiters.append(waiter)
            return .wait
        }
        guard running.count < Self.mostAbandoned else { return .giveUp }
        waiters.append(waiter)
        lastFlight += 1
        flight = lastFlight
        return .begin(lastFlight, replacing: token)
    }

    /// A token was refused, and its request cannot be sent again.
    mutating func distrust(_ issued: Issued) {
        if issued.generation == generation { isDistrusted = true }
    }

    /// Takes another token from elsewhere, which ends a refresh under way.
    /// - Returns: Who has waited for that, and what they get; and what ends the wait for the closure.
    mutating func set(
        _ token: BearerAuthentication.Token?
    ) -> ([Race<Issued>], Result<Issued, any Error>, Race<BearerAuthentication.Token>?) {
        let work = flight.flatMap { running[$0] }
        flight = nil
        replace(by: token)
        defer { waiters = [] }
        return (waiters, issue().map { .success($0) } ?? .failure(CancellationError()), work)
    }

    private mutating func replace(by token: BearerAuthentication.Token?) {
        self.token = token
        generation += 1
        isDistrusted = false
        failure = nil
    }

    /// The closure of a refresh is about to be called.
    mutating func begin(_ flight: UInt64, _ race: Race<BearerAuthentication.Token>) {
        running[flight] = race
    }

    /// The closure of a refresh has ended, whoever still waits for it.
    mutating func end(_ flight: UInt64) {
        running[flight] = nil
    }

    /// A refresh is over.
    /// - Returns: Who has waited for it, and for what; nil when it does not count any more.
    mutating func land(
        _ flight: UInt64,
        _ result: Result<BearerAuthentication.Token, any Error>
    ) -> ([Race<Issued>], Result<Issued, any Error>)? {
        guard self.flight == flight else { return nil }
        self.flight = nil
        let waiting = waiters
        waiters = []
        switch result {
        case .success(let token):
            replace(by: token)
            time += 1
            return (waiting, .success(Issued(value: token.value, generation: generation, time: time)))
        case .failure(let error):
            time += 1
            failure = (generation, time, error)
            return (waiting, .failure(error))
        }
    }

    private mutating func issue(validUntil date: Date? = nil) -> Issued? {
        guard let token else { return nil }
        if let expires = token.expires, let date, expires <= date { return nil }
        time += 1
        return Issued(value: token.value, generation: generation, time: time)
    }
}

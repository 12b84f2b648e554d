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
        /// Begin a refresh, and wait for it.
        case begin(UInt64, replacing: BearerAuthentication.Token?)
    }

    private(set) var token: BearerAuthentication.Token?
    private var generation: UInt64 = 0
    private var time: UInt64 = 0
    /// Whether the token was refused although nobody could ask for a new one.
    private var isDistrusted = false
    /// The number of the refresh under way; nil when there is none.
    private var flight: UInt64?
    private var lastFlight: UInt64 = 0
    private var waiters: [Race<Issued>] = []
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
        waiters.append(waiter)
        guard flight == nil else { return .wait }
        lastFlight += 1
        flight = lastFlight
        return .begin(lastFlight, replacing: token)
    }

    /// A token was refused, and its request cannot be sent again.
    mutating func distrust(_ issued: Issued) {
        if issued.generation == generation { isDistrusted = true }
    }

    /// Takes another token from elsewhere, which ends a refresh under way.
    /// - Returns: Who has waited for that, and what they get.
    mutating func set(_ token: BearerAuthentication.Token?) -> ([Race<Issued>], Result<Issued, any Error>) {
        flight = nil
        replace(by: token)
        defer { waiters = [] }
        return (waiters, issue().map { .success($0) } ?? .failure(CancellationError()))
    }

    private mutating func replace(by token: BearerAuthentication.Token?) {
        self.token = token
        generation += 1
        isDistrusted = false
        failure = nil
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

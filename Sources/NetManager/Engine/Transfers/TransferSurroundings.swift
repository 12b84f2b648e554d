/// What the transfers of a loop share.
///
/// A class, so that each of them keeps one reference and not seven.
final class TransferSurroundings {
    let engine: Engine
    let outbox = Outbox()
    let connected = ConnectedTransfers()
    let early = EarlyAnswers()
    // A value whose methods call nothing outside.
    @exclusivity(unchecked) var lookUps = LookUps()
    /// How many readers of a route may have a connection of their own (StreamLanes).
    let streamConnections: Int
    let challenges: TrustChallenges
    let verdicts = VerdictMemory()
    let tickets: ServiceTickets

    init(engine: Engine, challenges: TrustChallenges, streamConnections: Int) {
        self.engine = engine
        self.challenges = challenges
        tickets = ServiceTickets(engine: engine)
        self.streamConnections = streamConnections
    }
}

/// The same time on the clock that the engine goes by and on that of deadlines.
///
/// Both are read once for all transfers of a turn: what counts is how far they are apart.
struct PairOfClocks {
    let nanoseconds = MonotonicClock.nanoseconds
    let moment = Moment.now
}

import Locks

/// What a call can be told from outside while it runs: to end, to pause, how urgent it is.
///
/// Whoever tells it need not know which step the call is at: the step registers here. Copies are the same control.
package struct CallControl: Sendable {
    /// What a transfer under way is told.
    enum Order: Sendable {
        /// Fail as shut down.
        case shutDown
        /// Fail as cancelled.
        case cancel
        /// Move no byte until told otherwise.
        case pause
        case goOn
        /// Somebody changed the priority.
        case prioritize(RequestPriority)
    }

    /// A transfer under way.
    ///
    /// A protocol and not a closure, whose captures would be one more allocation of each request.
    protocol Transfer: Sendable {
        /// Takes an order; called without a lock held, by whoever gives it.
        func take(_ order: Order)
    }

    struct State: Sendable {
        typealias Observer = @Sendable (Bool) -> Void

        /// What the transport writes down about the call: one lock and one block of memory for both.
        var figures = CallFigures()
        fileprivate var isShutDown = false
        /// Whether the caller has cancelled a call with closures, and whether it has been told of the outcome.
        fileprivate var isCancelled = false
        fileprivate var isFinished = false
        /// Ends what carries such a call, where that is more than a transfer.
        fileprivate var carrier: (@Sendable () -> Void)?
        fileprivate var priority = RequestPriority.normal
        /// When the pause under way began; nil outside of one.
        fileprivate var pausedAt: Moment?
        /// The nanoseconds of the pauses that are over, together.
        fileprivate var paused: Int64 = 0
        /// Tells the transfer under way.
        fileprivate var transfer: (any Transfer)?
        /// Ends the steps of the call that others wrote.
        fileprivate var steps: (@Sendable () -> Void)?
        /// Told of the beginning, true, and the end of each pause.
        fileprivate var observer: Observer?
        /// What it is still to be told.
        fileprivate var notices: [Bool] = []
        /// Whether somebody is telling it.
        fileprivate var isTelling = false
        /// Those who wait for the end of a pause.
        fileprivate var waiters: [UInt64: Race<Void>] = [:]
        fileprivate var lastWaiter: UInt64 = 0

        /// Notes the beginning or the end of a pause for the observer.
        /// - Returns: Whether the caller has to tell it, as nobody does.
        fileprivate mutating func note(_ begins: Bool) -> Bool {
            guard observer != nil else { return false }
            notices.append(begins)
            defer { isTelling = true }
            return !isTelling
        }
    }

    let state: Guarded<State>

    package init() {
        self.init(priority: .normal)
    }

    /// Makes the control of a call that is so urgent.
    init(priority: RequestPriority) {
        state = Guarded(State(priority: priority))
    }

    /// Whether the call must end because its manager does.
    var isShutDown: Bool { state.withLock(\.isShutDown) }

    var isPaused: Bool { state.withLock { $0.pausedAt != nil } }

    /// How urgent the call is.
    var priority: RequestPriority {
        get { state.withLock(\.priority) }
        nonmutating set {
            let transfer = state.withLock { state in
                state.priority = newValue
                return state.transfer
            }
            transfer?.take(.prioritize(newValue))
        }
    }

    /// How many nanoseconds the call has been paused so far, in all: no limit counts that time.
    var pausedTime: Int64 { look.pausedTime }

    /// What a step asks before it goes on, at once.
    var look: (isShutDown: Bool, isPaused: Bool, pausedTime: Int64) {
        state.withLock { state in
            let pause = state.pausedAt.map { $0.nanoseconds(to: .now) } ?? 0
            return (state.isShutDown, state.pausedAt != nil, state.paused + pause)
        }
    }

    /// Ends the call, whatever it is doing.
    func shutDown() {
        let (transfer, steps, waiters) = state.withLock { state in
            state.isShutDown = true
            defer { state.waiters = [:] }
            return (state.transfer, state.steps, state.waiters.values)
        }
        for waiter in waiters { waiter.settle(.success(())) }
        transfer?.take(.shutDown)
        steps?()
    }

    /// Pauses the call; a second time does nothing.
    func pause() {
        let (mustTell, transfer) = state.withLock { state -> (Bool, (any Transfer)?) in
            guard state.pausedAt == nil else { return (false, nil) }
            state.pausedAt = .now
            return (state.note(true), state.transfer)
        }
        if mustTell { tellObserver() }
        transfer?.take(.pause)
    }

    /// Lets the call go on; does nothing when it is not paused.
    func goOn() {
        let (mustTell, transfer, waiters) = state.withLock { state in
            let nobody: (Bool, (any Transfer)?, [Race<Void>]) = (false, nil, [])
            guard let start = state.pausedAt else { return nobody }
            state.pausedAt = nil
            state.paused += start.nanoseconds(to: .now)
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            return (state.note(false), state.transfer, waiters)
        }
        if mustTell { tellObserver() }
        for waiter in waiters { waiter.settle(.success(())) }
        transfer?.take(.goOn)
    }

    /// Names who is told of pauses, in the order in which they begin and end; nil for nobody.
    ///
    /// It is told at once of a pause that has begun already. One who pauses or lets go on calls it, so it only hands on.
    func observePauses(_ observer: (@Sendable (_ begins: Bool) -> Void)?) {
        let mustTell = state.withLock { state in
            state.observer = observer
            return state.pausedAt != nil && state.note(true)
        }
        if mustTell { tellObserver() }
    }

    /// Tells the observer all that it is to be told, one thread at a time: the news of two threads that pause and go on
    /// at one moment would overtake each other.
    private func tellObserver() {
        while true {
            let next = state.withLock { state -> (State.Observer, Bool)? in
                guard let observer = state.observer, !state.notices.isEmpty else {
                    state.notices = []
                    state.isTelling = false
                    return nil
                }
                return (observer, state.notices.removeFirst())
            }
            guard let (observer, begins) = next else { return }
            observer(begins)
        }
    }

    /// Returns as soon as the call is not paused, or must end.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    func untilGoingOn() async throws {
        while true {
            let waiter = state.withLock { state -> (UInt64, Race<Void>)? in
                guard state.pausedAt != nil, !state.isShutDown else { return nil }
                let race = Race<Void>()
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = race
                return (state.lastWaiter, race)
            }
            guard let (number, race) = waiter else { return }
            defer { state.withLock { _ = $0.waiters.removeValue(forKey: number) } }
            try await withTaskCancellationHandler {
                try await race.value
            } onCancel: {
                race.settle(.failure(CancellationError()))
            }
        }
    }

    /// Names the transfer that carries the call now; nil when there is none any more.
    ///
    /// It is told at once of what happened before it was named.
    func attach(_ transfer: (any Transfer)?) {
        let (isShutDown, isCancelled, isPaused, priority) = state.withLock { state in
            state.transfer = transfer
            let isCancelled = state.isCancelled && state.carrier == nil
            return (state.isShutDown, isCancelled, state.pausedAt != nil, state.priority)
        }
        if isPaused { transfer?.take(.pause) }
        if priority != .normal { transfer?.take(.prioritize(priority)) }
        if isShutDown { transfer?.take(.shutDown) }
        if isCancelled { transfer?.take(.cancel) }
    }

    // MARK: Calls with closures

    /// Whether the caller has cancelled the call, and whether it has been told of the outcome.
    var ending: (isCancelled: Bool, isFinished: Bool) { state.withLock { ($0.isCancelled, $0.isFinished) } }

    /// Cancels the call, unless its outcome has been told.
    func cancel() {
        let (carrier, transfer) = state.withLock { state -> ((@Sendable () -> Void)?, (any Transfer)?) in
            guard !state.isFinished else { return (nil, nil) }
            state.isCancelled = true
            return (state.carrier, state.carrier == nil ? state.transfer : nil)
        }
        carrier?()
        transfer?.take(.cancel)
    }

    /// Names what ends that which carries the call now, by being called.
    ///
    /// It is called at once when the call was cancelled before.
    func setCarrier(_ carrier: @escaping @Sendable () -> Void) {
        let (isCancelled, before) = state.withLock { state in
            let before = state.carrier
            if !state.isFinished { state.carrier = carrier }
            return (state.isCancelled, before)
        }
        // Let go of after the lock, as in `finish()`.
        _ = consume before
        if isCancelled { carrier() }
    }

    /// Decides, once and for all, whether the outcome is what came or a cancellation.
    /// - Returns: Whether the call was cancelled before.
    func finish() -> Bool {
        // Not returned through the lock, whose generic result a closure would have to be wrapped for.
        var carrier: (@Sendable () -> Void)?
        let isCancelled = state.withLock { state in
            state.isFinished = true
            carrier = state.carrier
            state.carrier = nil
            return state.isCancelled
        }
        // Let go of after the lock: what it ends holds the closures, and they may hold anything.
        _ = consume carrier
        return isCancelled
    }

    /// Names who ends the steps that others wrote; nil when there are none under way.
    func attach(steps: (@Sendable () -> Void)?) {
        let isShutDown = state.withLock { state in
            state.steps = steps
            return state.isShutDown
        }
        if isShutDown { steps?() }
    }

    /// Whether two are the same control.
    static func === (left: CallControl, right: CallControl) -> Bool { left.state.isSame(as: right.state) }
}

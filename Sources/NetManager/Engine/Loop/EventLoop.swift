import CCurl
import CCurlShims

/// The engine's thread: waits, lets libcurl act, hands on results, runs jobs, obeys commands.
///
/// It is made on the thread and never leaves it, which the compiler sees to: nothing here is Sendable.
final class EventLoop {
    private let engine: Engine
    private let configuration: CurlTransport.Configuration
    var multi: MultiHandle
    private let selector: Selector
    private let handles: HandlePool
    // Values whose methods call nothing outside (Transfer): no access to one can begin inside of another.
    @exclusivity(unchecked) var transfers = TransferTable<Transfer>()
    @exclusivity(unchecked) var deadlines = DeadlineQueue()
    @exclusivity(unchecked) private var routes = RouteTable()
    @exclusivity(unchecked) var queue: ConnectionQueue
    private let surroundings: TransferSurroundings
    private var early: EarlyAnswers { surroundings.early }
    /// What is to be told to the outside once libcurl has returned; never inside one of its callbacks.
    private var outbox: Outbox { surroundings.outbox }
    var challenges: TrustChallenges { surroundings.challenges }
    var tickets: ServiceTickets { surroundings.tickets }
    var lookUps: LookUps {
        _read { yield surroundings.lookUps }
        _modify { yield &surroundings.lookUps }
    }
    /// Whether nobody is let in any more.
    private(set) var isFinishing = false
    /// What is to be done once nothing is under way.
    private var idleWork = IdleWork()

    init(engine: Engine, configuration: CurlTransport.Configuration, selector: Selector) {
        self.engine = engine
        self.configuration = configuration
        self.selector = selector
        queue = ConnectionQueue(
            mostPerHost: configuration.maximumConnectionsPerHost,
            most: configuration.maximumConnections
        )
        multi = MultiHandle(selector: selector, configuration: configuration)
        handles = HandlePool(configuration: configuration, selector: selector)
        surroundings = TransferSurroundings(
            engine: engine,
            challenges: TrustChallenges(engine: engine, capacity: configuration.rememberedChallenges),
            // Where connections are limited, a request could wait for one without end.
            streamConnections: queue.isUnlimited ? max(0, configuration.maximumStreamConnectionsPerHost) : 0
        )
    }

    /// Runs until the engine is stopped or the process exits.
    func run() {
        var jobs: [UnownedJob] = []
        var commands: [Command] = []
        var events: [Selector.Event] = []
        let executor = engine.asUnownedTaskExecutor()
        while !engine.mustHalt {
            engine.take(&jobs)
            for job in jobs { job.runSynchronously(on: executor) }
            jobs.empty()
            engine.deliverCompletions()
            engine.take(&commands)
            if !commands.isEmpty, obeyAll(&commands) == .stop { return }
            multi.actIfDue()
            expire()
            harvest()
            engine.deliverCompletions()
            if !idleWork.isEmpty, transfers.isEmpty { rest() }
            var look = early.look(hasHeard: !events.isEmpty)
            if lookUps.isAwaited { look = earlierLook(look) }
            selector.wait(milliseconds: engine.mayFallAsleep() ? milliseconds(until: look) : 0, &events)
            engine.didWake()
            for event in events { multi.act(on: event) }
            harvest()
            engine.deliverCompletions()
        }
    }

    /// How long the thread may sleep, in milliseconds, -1 for ever.
    /// - Parameter look: When early answers are to be looked at again; nil for never.
    /// - Returns: Milliseconds, as epoll takes them.
    private func milliseconds(until look: UInt64?) -> Int32 {
        var earliest = deadlines.earliest
        if let look { earliest = min(earliest ?? look, look) }
        let own = earliest.map { MonotonicClock.milliseconds(until: $0) }
        switch (own, multi.milliseconds) {
        case (nil, let curls): return curls
        case (let own?, -1): return own
        case (let own?, let curls): return min(own, curls)
        }
    }

    /// Ends the transfers whose stage has taken too long.
    private func expire() {
        guard let earliest = deadlines.earliest else { return }
        let now = MonotonicClock.nanoseconds
        guard earliest <= now else { return }
        while let entry = deadlines.popDue(now: now) {
            guard let transfer = transfers[entry.id] else { continue }
            if let phase = transfer.clock.expired(now: now) {
                end(entry.id, because: .timedOut(phase))
            } else if transfer.isOverdue(now: now) {
                end(entry.id, because: .timedOut(.total))
            } else {
                watch(transfer, now: now)
            }
        }
    }

    /// Looks at a transfer again when its stage may be over.
    ///
    /// A stage that begins later has its own limit, so none is looked at less often than its shortest limit.
    func watch(_ transfer: Transfer, now: UInt64) {
        guard let time = transfer.clock.nextLook(now: now) else { return }
        look(at: transfer.id, at: time)
    }

    /// Looks at a transfer when a time has come.
    private func look(at id: TransferID, at time: UInt64) {
        // Entries outlive their transfers, by hours where a limit is one: they must not pile up.
        if deadlines.count > 2 * transfers.count + 1024 {
            deadlines.keep { transfers[$0] != nil }
        }
        deadlines.insert(DeadlineQueue.Entry(time: time, id: id))
    }

    /// Looks at a transfer when its whole time is over.
    func watchWhole(_ transfer: Transfer) {
        if let end = transfer.end { look(at: transfer.id, at: end) }
    }

    private enum Verdict { case goOn, stop }

    /// Obeys commands in the order in which they came, and takes them out of the list.
    private func obeyAll(_ commands: inout [Command]) -> Verdict {
        let now = PairOfClocks()
        // Taken from the end they are moved, and not copied.
        commands.reverse()
        while let command = commands.popLast() {
            guard case .stop = command else {
                obey(command, now)
                continue
            }
            // The door was still open for what came behind the order to stop.
            while let late = commands.popLast() { late.refuse() }
            finish()
            return .stop
        }
        commands.empty()
        return .goOn
    }

    private func obey(_ command: consuming Command, _ now: PairOfClocks) {
        switch consume command {
        case .start(let start): begin(start, now)
        case .cancel(let id): end(id, because: .cancelled)
        case .resume(let id): transfers[id]?.resume()
        case .pause(let id): pause(id)
        case .goOn(let id): goOn(id)
        case .prioritize(let id, let priority): prioritize(id, priority)
        case .fail(let id, let failure): end(id, because: failure)
        case .whenIdle(let closure): idleWork.add(.tell(closure))
        case .closeIdleConnections: idleWork.add(.closeConnections)
        case .answered(let number, let answer): settle(number, answer)
        case .ticket(let host, let isThere): settleTicket(of: host, isThere: isThere)
        case .stop: break
        }
        outbox.deliver()
    }

    /// Does what has waited for this moment, in which nothing is under way.
    private func rest() {
        for item in idleWork.take() {
            switch item {
            case .tell(let closure):
                closure()
            case .closeConnections:
                // libcurl has no call for it: connections go with the multi handle that they are in.
                multi.close()
                multi = MultiHandle(selector: selector, configuration: configuration)
            }
        }
    }

    private func begin(_ start: consuming TransferStart, _ now: PairOfClocks) {
        guard !start.plan.isCancelled else {
            start.reply.resume(throwing: CancellationError())
            return
        }
        let transfer = Transfer(consume start, surroundings, now: now)
        guard let handle = handles.take(for: transfer.plan) else {
            transfer.finish(with: .outOfMemory, code: CURLE_OUT_OF_MEMORY)
            return
        }
        do {
            try transfer.attach(handle, &routes)
        } catch {
            transfer.leaveLane()
            transfer.finish(with: error, code: nil)
            handles.give(back: handle)
            return
        }
        transfers.insert(transfer)
        if transfer.clock.isNeeded { watch(transfer, now: MonotonicClock.nanoseconds) }
        watchWhole(transfer)
        goOn(transfer, now: now.nanoseconds, enter)
    }

    /// Ends a transfer from outside of libcurl.
    func end(_ id: TransferID, because failure: TransferFailure) {
        guard let transfer = transfers.remove(id) else { return }
        if transfer.place == .atHook { challenges.leave(id) }
        if transfer.place == .atTickets { tickets.leave(id) }
        retire(transfer, failure: failure, code: nil)
    }

    /// Hands on what libcurl has ended.
    private func harvest() {
        for transfer in surroundings.connected.take() {
            guard let route = transfer.route else { continue }
            // Its connection has room for others, which need no connections of their own.
            if transfer.multiplexes, !queue.isUnlimited { admit(queue.leave(transfer.id)) }
            release(route.gate.connected(transfer.id, multiplexes: transfer.multiplexes))
        }
        while let finished = multi.nextFinished() {
            guard let context = nm_easy_getinfo_private(finished.easy),
                let transfer = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().transfer
            else { continue }
            if finished.code != CURLE_OK, let hook = transfer.plan.serverTrustHook,
                let question = transfer.verification?.question
            {
                ask(question, hook, for: transfer)
                continue
            }
            if finished.code != CURLE_OK, transfer.lookUp == .refused {
                waitForResolver(transfer)
                continue
            }
            if finished.code != CURLE_OK, transfer.needsFreshConnection {
                connectAnew(transfer)
                continue
            }
            transfers.remove(transfer.id)
            retire(transfer, failure: nil, code: finished.code)
        }
        if lookUps.isAwaited { admitToResolver() }
        outbox.deliver()
    }

    private func retire(_ transfer: Transfer, failure: TransferFailure?, code: CURLcode?) {
        transfer.noteUnread()
        transfer.endLookUp(isAbandoned: failure != nil)
        early.remove(transfer)
        transfer.leaveLane()
        // The results are read off the handle before it is taken out: some are gone afterwards.
        transfer.finish(with: failure, code: code)
        if let handle = transfer.detach() {
            if transfer.place == .inLibcurl { multi.remove(handle.pointer) }
            handles.give(back: handle)
        }
        let wasCancelled = if case .cancelled = failure { true } else { false }
        leaveQueues(transfer, wasCancelled: wasCancelled)
    }

    /// Ends everything, in the order that libcurl asks for.
    private func finish() {
        let rest = engine.closeInbox()
        for command in rest.commands { command.refuse() }
        isFinishing = true
        queue = ConnectionQueue(mostPerHost: 0, most: 0)
        for transfer in transfers.all { end(transfer.id, because: .shutDown) }
        outbox.deliver()
        // No turn follows in which the closures of these calls would be called.
        engine.deliverCompletions()
        for case .tell(let closure) in idleWork.take() { closure() }
        handles.close()
        multi.close()
        handles.closeShare()
        selector.close()
        for job in rest.jobs { globalConcurrentExecutor.enqueue(job) }
    }
}

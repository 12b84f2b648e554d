import CCurl
import CCurlShims

/// The engine's thread: waits, lets libcurl act, hands on results, runs jobs, obeys commands.
///
/// It is made on the thread and never leaves it, which the compiler sees to: nothing here is Sendable.
final class EventLoop {
    private let engine: Engine
    private let configuration: CurlTransport.Configuration
    private let multi: MultiHandle
    private let selector: Selector
    private let handles: HandlePool
    private var transfers: [TransferID: Transfer] = [:]
    private var deadlines = DeadlineQueue()
    private var gate = ConnectionGate()
    private let connected = ConnectedTransfers()
    private let challenges: TrustChallenges
    /// What is to be told to the outside once libcurl has returned; never inside one of its callbacks.
    private var outbox = Outbox()

    init(engine: Engine, configuration: CurlTransport.Configuration) {
        self.engine = engine
        self.configuration = configuration
        selector = Selector(wakeDescriptor: engine.wakeDescriptor)
        multi = MultiHandle(selector: selector, configuration: configuration)
        handles = HandlePool(configuration: configuration, selector: selector)
        challenges = TrustChallenges(engine: engine, capacity: configuration.rememberedChallenges)
    }

    /// Runs until the engine is stopped or the process exits.
    func run() {
        while !engine.mustHalt {
            for job in engine.takeJobs() { job.runSynchronously(on: engine.asUnownedTaskExecutor()) }
            engine.deliverCompletions()
            for command in engine.takeCommands() {
                if case .stop = command {
                    finish()
                    return
                }
                obey(command)
            }
            multi.actIfDue()
            expire()
            harvest()
            let events = selector.wait(milliseconds: engine.mayFallAsleep() ? milliseconds : 0)
            engine.didWake()
            for event in events { multi.act(on: event) }
            harvest()
        }
    }

    /// How long the thread may sleep, in milliseconds, -1 for ever.
    private var milliseconds: Int32 {
        let own = deadlines.earliest.map { MonotonicClock.milliseconds(until: $0) }
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
            } else if transfer.waiting != nil, transfer.isOverdue {
                end(entry.id, because: .timedOut(.total))
            } else {
                watch(transfer, now: now)
            }
        }
    }

    /// Looks at a transfer again when its stage may be over.
    ///
    /// A stage that begins later has its own limit, so none is looked at less often than its shortest limit.
    private func watch(_ transfer: Transfer, now: UInt64) {
        guard let time = transfer.clock.nextLook(now: now) else { return }
        // Entries outlive their transfers, by hours where a limit is one: they must not pile up.
        if deadlines.count > 2 * transfers.count + 1024 {
            deadlines.keep { transfers[$0] != nil }
        }
        deadlines.insert(DeadlineQueue.Entry(time: time, id: transfer.id))
    }

    private func obey(_ command: Command) {
        switch command {
        case .start(let start): begin(start)
        case .cancel(let id): end(id, because: .cancelled)
        case .resume(let id): transfers[id]?.resume()
        case .uploadFailed(let id, let failure): end(id, because: failure)
        case .answered(let number, let answer): settle(number, answer)
        case .stop: break
        }
        outbox.deliver()
    }

    private func begin(_ start: TransferStart) {
        guard !start.token.isCancelled else {
            start.reply.resume(throwing: CancellationError())
            return
        }
        let transfer = Transfer(
            start,
            engine: engine,
            outbox: outbox,
            connected: connected,
            challenges: challenges
        )
        guard let handle = handles.take() else {
            transfer.finish(with: .outOfMemory, code: CURLE_OUT_OF_MEMORY)
            return
        }
        do {
            try transfer.attach(handle)
        } catch {
            transfer.finish(with: error, code: nil)
            handles.give(back: handle)
            return
        }
        transfers[start.token.id] = transfer
        if transfer.clock.isNeeded { watch(transfer, now: MonotonicClock.nanoseconds) }
        if let route = transfer.route, !gate.mayEnter(transfer.id, on: route) {
            wait(transfer, for: .connection)
        } else {
            handToLibcurl(transfer)
        }
    }

    private func handToLibcurl(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        transfer.wasStarted = true
        transfer.letOverruledNamePass()
        let result = multi.add(handle.pointer)
        if result != CURLM_OK { end(transfer.id, because: .outOfMemory) }
    }

    /// Keeps a transfer outside of libcurl, which does not watch its time meanwhile.
    private func wait(_ transfer: Transfer, for waiting: Transfer.Waiting) {
        transfer.waiting = waiting
        guard let left = transfer.timeLeft else { return }
        let time = MonotonicClock.nanoseconds &+ UInt64(clamping: left.nanoseconds)
        deadlines.insert(DeadlineQueue.Entry(time: time, id: transfer.id))
    }

    /// Lets those go on that have waited for a connection.
    private func release(_ ids: [TransferID]) {
        for id in ids {
            guard let transfer = transfers[id], transfer.waiting == .connection else { continue }
            goOn(transfer)
        }
    }

    /// Ends the waiting of a transfer.
    private func goOn(_ transfer: Transfer) {
        transfer.waiting = nil
        do {
            try transfer.handle?.applyDeadline(transfer.plan)
            handToLibcurl(transfer)
        } catch {
            end(transfer.id, because: error)
        }
    }

    /// Takes a transfer out of libcurl until the program's hook has said what it thinks of the server.
    private func ask(_ question: ServerTrustQuestion, _ hook: ServerTrustHook, for transfer: Transfer) {
        if let handle = transfer.handle { multi.remove(handle.pointer) }
        transfer.questions += 1
        guard transfer.questions <= ServerTrustQuestion.limit else {
            transfer.refusalReporter?(ServerTrustQuestion.restless, question.challenge.serverTrust, false)
            end(transfer.id, because: .untrusted(ServerTrustQuestion.restless))
            return
        }
        // The time that a hook takes is nobody's handshake.
        transfer.clock.hold()
        wait(transfer, for: .answer)
        challenges.ask(question, hook, for: transfer.id)
    }

    /// Lets those go on, or ends them, that waited for a hook's answer.
    private func settle(_ number: UInt64, _ answer: ServerTrustChallenge.Answer) {
        guard let (question, waiting) = challenges.settle(number, answer) else { return }
        let failure = question.failure(after: answer)
        for id in waiting {
            guard let transfer = transfers[id], transfer.waiting == .answer else { continue }
            if let failure {
                if case .untrusted(let error) = failure {
                    transfer.refusalReporter?(error, question.challenge.serverTrust, false)
                }
                end(id, because: failure)
            } else {
                transfer.beginAnew()
                goOn(transfer)
            }
        }
    }

    /// Ends a transfer from outside of libcurl.
    private func end(_ id: TransferID, because failure: TransferFailure) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        if transfer.waiting == .answer { challenges.leave(id) }
        retire(transfer, failure: failure, code: nil)
    }

    /// Hands on what libcurl has ended.
    private func harvest() {
        for transfer in connected.take() {
            guard let route = transfer.route else { continue }
            release(gate.connected(transfer.id, on: route, multiplexes: transfer.multiplexes))
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
            transfers[transfer.id] = nil
            retire(transfer, failure: nil, code: finished.code)
        }
        outbox.deliver()
    }

    private func retire(_ transfer: Transfer, failure: TransferFailure?, code: CURLcode?) {
        // The results are read off the handle before it is taken out: some are gone afterwards.
        transfer.finish(with: failure, code: code)
        if let handle = transfer.detach() {
            multi.remove(handle.pointer)
            handles.give(back: handle)
        }
        guard let route = transfer.route else { return }
        let wasCancelled = if case .cancelled = failure { true } else { false }
        release(gate.ended(transfer.id, on: route, wasCancelled: wasCancelled))
    }

    /// Ends everything, in the order that libcurl asks for.
    private func finish() {
        let rest = engine.closeInbox()
        for command in rest.commands { command.refuse() }
        // Nobody is let in any more.
        gate = ConnectionGate()
        for id in Array(transfers.keys) { end(id, because: .shutDown) }
        outbox.deliver()
        handles.close()
        multi.close()
        handles.closeShare()
        selector.close()
        for job in rest.jobs { globalConcurrentExecutor.enqueue(job) }
    }
}

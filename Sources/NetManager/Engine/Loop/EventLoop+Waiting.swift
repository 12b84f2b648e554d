import CCurl
import CCurlShims

/// Where transfers wait before libcurl has them, and while their callers or the program's hook keep them from it.
extension EventLoop {
    /// Lets a transfer begin, or wait until it may.
    func enter(_ transfer: Transfer) {
        if let service = transfer.missingTickets.last { return getTicket(for: service, transfer) }
        if let route = transfer.route, !route.gate.mayEnter(transfer.id) {
            transfer.place = .atGate
        } else {
            queueUp(transfer)
        }
    }

    /// Lets a transfer have a connection, or wait while all that may be made are in use.
    ///
    /// Requests that share a connection are libcurl's to place: it alone knows how many fit on it.
    private func queueUp(_ transfer: Transfer) {
        guard !queue.isUnlimited else { return handToLibcurl(transfer) }
        let shares = transfer.route?.gate.multiplexes == true
        if !shares, let host = transfer.host,
            !queue.mayEnter(transfer.id, host: host, priority: transfer.priority)
        {
            transfer.place = .inQueue
        } else {
            handToLibcurl(transfer)
        }
    }

    private func handToLibcurl(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        transfer.place = .inLibcurl
        transfer.rewindUpload()
        transfer.wasStarted = true
        transfer.letOverruledNamePass()
        let result = multi.add(handle.pointer)
        if result != CURLM_OK { end(transfer.id, because: .outOfMemory) }
    }

    /// Lets those go on that have waited for a connection to share, the most urgent first.
    func release(_ ids: [TransferID]) {
        // As with nearly every request.
        guard !ids.isEmpty, !isFinishing else { return }
        var released: [Transfer] = []
        released.reserveCapacity(ids.count)
        for id in ids {
            if let transfer = transfers[id], transfer.place == .atGate { released.append(transfer) }
        }
        // They came in the order of their numbers, or went on in it.
        if let first = released.first, released.contains(where: { $0.priority != first.priority }) {
            released.sort {
                $0.priority == $1.priority ? $0.id.number < $1.id.number : $0.priority > $1.priority
            }
        }
        let now = MonotonicClock.nanoseconds
        for transfer in released { goOn(transfer, now: now, queueUp) }
    }

    /// Lets those go on whose turn it is.
    func admit(_ ids: [TransferID]) {
        for id in ids {
            guard let transfer = transfers[id], transfer.place == .inQueue else { continue }
            goOn(transfer, handToLibcurl)
        }
    }

    /// Lets a transfer take its next step, if there is time left for it.
    func goOn(_ transfer: Transfer, now: UInt64 = MonotonicClock.nanoseconds, _ step: (Transfer) -> Void) {
        if transfer.isOverdue(now: now) {
            end(transfer.id, because: .timedOut(.total))
        } else {
            step(transfer)
        }
    }

    // MARK: What callers ask for meanwhile

    func pause(_ id: TransferID) {
        guard let transfer = transfers[id], !transfer.isPaused, transfer.isMeantToPause != false else {
            return
        }
        if transfer.place == .inLibcurl, !transfer.state.hasStarted, let handle = transfer.handle {
            // Nothing was sent: what there is of a connection is given up, and the request begins anew.
            multi.remove(handle.pointer)
            transfer.endLookUp(isAbandoned: true)
            transfer.beginAnew()
            transfer.place = .parked
        } else if [.atGate, .inQueue, .atResolver].contains(transfer.place) {
            // It would stand there twice when it comes back.
            if transfer.place == .atResolver { lookUps.leave(id) }
            transfer.endLookUp(isAbandoned: true)
            transfer.place = .parked
        }
        transfer.pause()
        if transfer.place == .parked { leaveQueues(transfer, wasCancelled: true) }
    }

    func goOn(_ id: TransferID) {
        guard let transfer = transfers[id], transfer.isPaused, transfer.isMeantToPause != true else { return }
        transfer.goOn()
        if transfer.clock.isNeeded { watch(transfer, now: MonotonicClock.nanoseconds) }
        watchWhole(transfer)
        if transfer.place == .parked { goOn(transfer, enter) }
    }

    func prioritize(_ id: TransferID, _ priority: RequestPriority) {
        guard let transfer = transfers[id] else { return }
        // As with pauses, the order that comes last need not be the last one that was given.
        transfer.priority = transfer.plan.context.control?.priority ?? priority
        if transfer.place == .inQueue { queue.prioritize(id, transfer.priority) }
    }

    /// Gives up a transfer's place among those who wait for connections, or have one.
    func leaveQueues(_ transfer: Transfer, wasCancelled: Bool) {
        if !queue.isUnlimited { admit(queue.leave(transfer.id)) }
        guard let route = transfer.route else { return }
        release(route.gate.ended(transfer.id, wasCancelled: wasCancelled))
    }

    /// Gives a transfer a connection that is made for it, as libcurl chose one that is not free; nothing was sent.
    func connectAnew(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        multi.remove(handle.pointer)
        transfer.needsFreshConnection = false
        transfer.beginAnew()
        do {
            try handle.connectAnew()
        } catch {
            return end(transfer.id, because: error)
        }
        if transfer.isPaused {
            transfer.place = .parked
            leaveQueues(transfer, wasCancelled: true)
        } else {
            goOn(transfer, handToLibcurl)
        }
    }

    // MARK: The system's resolver

    /// Takes a transfer out of libcurl until its name may be looked up.
    func waitForResolver(_ transfer: Transfer) {
        if let handle = transfer.handle { multi.remove(handle.pointer) }
        transfer.handle?.clearErrorMessage()
        transfer.lookUp = .waits
        transfer.place = .atResolver
        lookUps.wait(transfer.id)
    }

    /// Lets those go on whose names may be looked up now.
    func admitToResolver() {
        for id in lookUps.admitted({ transfers[$0]?.place == .atResolver }) {
            // One that went on may have ended others.
            guard let transfer = transfers[id], transfer.place == .atResolver else { continue }
            goOn(transfer, handToLibcurl)
        }
    }

    /// When to look again, be it for those who wait for the resolver.
    func earlierLook(_ other: UInt64?) -> UInt64? {
        guard let look = lookUps.look(now: MonotonicClock.nanoseconds) else { return other }
        return min(look, other ?? look)
    }

    // MARK: The program's hook

    /// Takes a transfer out of libcurl until the program's hook has said what it thinks of the server.
    func ask(_ question: ServerTrustQuestion, _ hook: ServerTrustHook, for transfer: Transfer) {
        if let handle = transfer.handle { multi.remove(handle.pointer) }
        transfer.place = .atHook
        transfer.questions += 1
        guard transfer.questions <= ServerTrustQuestion.limit else {
            transfer.refusalReporter?(ServerTrustQuestion.restless, question.challenge.serverTrust, false)
            end(transfer.id, because: .untrusted(ServerTrustQuestion.restless))
            return
        }
        // The time that a hook takes is nobody's handshake.
        transfer.clock.hold()
        challenges.ask(question, hook, for: transfer.id)
    }

    /// Lets those go on, or ends them, that waited for a hook's answer.
    func settle(_ number: UInt64, _ answer: ServerTrustChallenge.Answer) {
        guard let (question, waiting) = challenges.settle(number, answer) else { return }
        let failure = question.failure(after: answer)
        for id in waiting {
            guard let transfer = transfers[id], transfer.place == .atHook else { continue }
            if let failure {
                if case .untrusted(let error) = failure {
                    transfer.refusalReporter?(error, question.challenge.serverTrust, false)
                }
                end(id, because: failure)
            } else if transfer.isPaused {
                transfer.beginAnew()
                transfer.place = .parked
                leaveQueues(transfer, wasCancelled: true)
            } else {
                transfer.beginAnew()
                goOn(transfer, handToLibcurl)
            }
        }
    }
}

extension Transfer {
    /// Whether its call is paused at this moment; nil where nobody can pause it.
    ///
    /// Orders of several threads may come in another order than they were given in: what counts is what the call is told
    /// last, not which order comes last.
    fileprivate var isMeantToPause: Bool? { plan.context.control?.isPaused }
}

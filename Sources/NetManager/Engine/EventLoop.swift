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
    /// What is to be told to the outside once libcurl has returned; never inside one of its callbacks.
    private var outbox = Outbox()

    init(engine: Engine, configuration: CurlTransport.Configuration) {
        self.engine = engine
        self.configuration = configuration
        selector = Selector(wakeDescriptor: engine.wakeDescriptor)
        multi = MultiHandle(selector: selector, configuration: configuration)
        handles = HandlePool(configuration: configuration, selector: selector)
    }

    /// Runs until the engine is stopped or the process exits.
    func run() {
        while !engine.mustHalt {
            for job in engine.takeJobs() { job.runSynchronously(on: engine.asUnownedTaskExecutor()) }
            for command in engine.takeCommands() {
                if case .stop = command {
                    finish()
                    return
                }
                obey(command)
            }
            multi.actIfDue()
            harvest()
            let events = selector.wait(milliseconds: engine.mayFallAsleep() ? multi.milliseconds : 0)
            engine.didWake()
            for event in events { multi.act(on: event) }
            harvest()
        }
    }

    private func obey(_ command: Command) {
        switch command {
        case .start(let start): begin(start)
        case .cancel(let id): end(id, because: .cancelled)
        case .resume(let id): transfers[id]?.resume()
        case .uploadFailed(let id, let failure): end(id, because: failure)
        case .stop: break
        }
        outbox.deliver()
    }

    private func begin(_ start: TransferStart) {
        guard !start.token.isCancelled else {
            start.reply.resume(throwing: CancellationError())
            return
        }
        let transfer = Transfer(start, engine: engine, outbox: outbox)
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
        let result = multi.add(handle.pointer)
        if result != CURLM_OK { end(start.token.id, because: .outOfMemory) }
    }

    /// Ends a transfer from outside of libcurl.
    private func end(_ id: TransferID, because failure: TransferFailure) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        retire(transfer, failure: failure, code: nil)
    }

    /// Hands on what libcurl has ended.
    private func harvest() {
        while let finished = multi.nextFinished() {
            guard let context = nm_easy_getinfo_private(finished.easy),
                let transfer = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().transfer
            else { continue }
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
    }

    /// Ends everything, in the order that libcurl asks for.
    private func finish() {
        let rest = engine.closeInbox()
        for command in rest.commands { command.refuse() }
        for id in Array(transfers.keys) { end(id, because: .shutDown) }
        outbox.deliver()
        handles.close()
        multi.close()
        handles.closeShare()
        selector.close()
        for job in rest.jobs { globalConcurrentExecutor.enqueue(job) }
    }
}

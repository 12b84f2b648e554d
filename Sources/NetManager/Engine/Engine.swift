import CLinux
import COpenSSL
import Dispatch
import Glibc
import Locks
import Synchronization

/// The door to the thread that owns every libcurl object, and the executor of the manager's own steps.
///
/// Everybody may post commands and enqueue jobs; only the thread takes them. The thread begins with the first of
/// them and ends when the engine is stopped.
final class Engine: TaskExecutor {
    /// What waits for the thread.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var commands: [Command] = []
        /// Whether the thread sleeps, or is about to, and must be woken by whoever posts next.
        var isAsleep = false
        /// Whether no transfer is begun any more, while those under way go on.
        var isDraining = false
        var life = Life.notStarted
        /// Told when the thread has ended.
        var farewells: [@Sendable () -> Void] = []
    }

    private enum Life {
        /// No thread: none was needed, or the system had none to give when one was.
        case notStarted
        case running
        /// The door is closed; the thread ends.
        case stopped
        case ended
    }

    /// A closure that is to be called on a queue.
    private struct Completed: Sendable {
        let queue: DispatchQueue
        let body: @Sendable () -> Void
    }

    /// One turn's work, taken out of the inbox at once.
    struct Batch {
        var jobs: [UnownedJob] = []
        var commands: [Command] = []
    }

    /// What the thread is called, at most 15 bytes, and those after it that it makes (LookUps).
    static let threadName = "NetManager"
    /// Written to by those who post, watched by the thread's selector; −1 until the thread is started.
    private let wakeDescriptor = Atomic<Int32>(-1)
    private let configuration: CurlTransport.Configuration
    private let inbox = Guarded(Inbox())
    /// The thread, while it runs; 0 before and after.
    ///
    /// Kept as an integer, as `pthread_t` is one on Linux.
    private let thread = Atomic<pthread_t>(0)
    /// The process in which the thread was begun (ForkCount); the largest number before.
    private let process = Atomic<UInt32>(.max)
    /// Closures of users that wait for the end of the turn, with their queues.
    private let completions: Guarded<[Completed]> = Guarded([])
    /// Whether there are any; only the thread asks, several times a turn.
    private let hasCompletions = Atomic<Bool>(false)
    /// Told when the thread has ended, for the exit handler.
    private let ended = DispatchSemaphore(value: 0)
    /// Set by the exit handler: the thread returns at once, without ending transfers.
    private let isHalting = Atomic<Bool>(false)

    init(configuration: CurlTransport.Configuration) {
        self.configuration = configuration
    }

    deinit {
        let descriptor = wakeDescriptor.load(ordering: .acquiring)
        if descriptor >= 0 { close(descriptor) }
    }

    // MARK: What anybody may call

    /// Whether the thread was left behind in the process that this one was forked from.
    ///
    /// Nothing can be carried then, and the lock may be held for ever by a thread that is not here.
    var isOrphaned: Bool {
        let process = process.load(ordering: .relaxed)
        return process != .max && process != ForkCount.current
    }

    /// Hands a command to the thread.
    /// - Returns: False when the engine has been stopped; the command is then dropped.
    @discardableResult
    func post(_ command: Command) -> Bool {
        deliver { $0.commands.append(command) }
    }

    /// Runs a job on the thread; on the default executor once the engine has been stopped, so that no task is left
    /// without a thread.
    ///
    /// The runtime holds no reference to an executor while it calls this, and the job may be the last thing that needs the
    /// engine: nothing of it is touched any more once the job can be taken.
    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let isTaken = deliver(wakesUnderLock: true) { $0.jobs.append(unowned) }
        if !isTaken { globalConcurrentExecutor.enqueue(unowned) }
    }

    /// Hands over a transfer that is to begin.
    /// - Returns: Nil, or the transfer itself when no more are begun.
    func post(_ start: consuming TransferStart) -> TransferStart? {
        // Taken out of the variable it is moved, where a closure would copy it.
        var start: TransferStart? = start
        _ = deliver(isTransfer: true) { inbox in
            if let start = start.take() { inbox.commands.append(.start(start)) }
        }
        return start
    }

    /// Hands a command to the thread if there is one.
    /// - Returns: False when there is none; the command is then dropped.
    @discardableResult
    func post(ifRunning command: Command) -> Bool {
        guard !isOrphaned else { return false }
        let isRunning = inbox.withLock { $0.life == .running }
        return isRunning && post(command)
    }

    /// Begins no transfer any more; those under way go on.
    func refuseTransfers() {
        guard !isOrphaned else { return }
        inbox.withLock { $0.isDraining = true }
    }

    /// Ends the thread once it has failed what is under way; later commands are refused.
    func stop() {
        guard !isOrphaned else { return }
        let isRunning = inbox.withLock { inbox in
            guard inbox.life == .notStarted else { return true }
            inbox.life = .ended
            return false
        }
        if isRunning { post(.stop) }
    }

    /// Whether the caller is on the engine's thread.
    var isCurrentThread: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Calls a closure on a serial queue that nobody else uses, in one go with others that are ready by then: each go
    /// wakes a thread.
    func complete(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        guard isCurrentThread else { return queue.async(execute: body) }
        completions.withLock { $0.append(Completed(queue: queue, body: body)) }
        hasCompletions.store(true, ordering: .relaxed)
    }

    /// Calls a closure when the thread has ended, at once if there is none any more.
    func whenEnded(_ farewell: @escaping @Sendable () -> Void) {
        guard !isOrphaned else { return farewell() }
        let hasEnded = inbox.withLock { inbox in
            if inbox.life != .ended { inbox.farewells.append(farewell) }
            return inbox.life == .ended
        }
        if hasEnded { farewell() }
    }

    private func deliver(
        isTransfer: Bool = false,
        wakesUnderLock: Bool = false,
        _ append: (inout Inbox) -> Void
    ) -> Bool {
        guard !isOrphaned else { return false }
        enum Follow { case nothing, wake, start, refuse }
        let follow: Follow = inbox.withLock { inbox in
            if isTransfer, inbox.isDraining { return .refuse }
            switch inbox.life {
            case .stopped, .ended:
                return .refuse
            case .notStarted:
                append(&inbox)
                inbox.life = .running
                return .start
            case .running:
                append(&inbox)
                guard inbox.isAsleep else { return .nothing }
                inbox.isAsleep = false
                guard wakesUnderLock else { return .wake }
                wake()
                return .nothing
            }
        }
        switch follow {
        case .nothing: break
        case .wake: wake()
        case .start: start()
        case .refuse: return false
        }
        return true
    }

    private func wake() {
        let descriptor = wakeDescriptor.load(ordering: .acquiring)
        // Not there yet: the thread looks at the inbox before it sleeps for the first time.
        guard descriptor >= 0 else { return }
        var one: UInt64 = 1
        // The counter cannot overflow before the thread has seen it, so the only failure is an interrupted call.
        while write(descriptor, &one, 8) == -1 && errno == EINTR {}
    }

    // MARK: What the thread calls

    /// Takes the jobs that have been posted, in exchange for an empty list, whose memory the next ones use.
    func take(_ jobs: inout [UnownedJob]) {
        inbox.withLock { swap(&$0.jobs, &jobs) }
    }

    /// Takes the commands that have been posted, in the same way.
    func take(_ commands: inout [Command]) {
        inbox.withLock { swap(&$0.commands, &commands) }
    }

    /// Hands the closures that are ready to their queues, in order.
    func deliverCompletions() {
        guard hasCompletions.load(ordering: .relaxed) else { return }
        hasCompletions.store(false, ordering: .relaxed)
        var rest = completions.withLock { exchange(&$0) }[...]
        while let queue = rest.first?.queue {
            let together = rest.prefix { $0.queue === queue }
            rest = rest[together.endIndex...]
            queue.async { for completed in together { completed.body() } }
        }
    }

    /// Decides under the lock whether the thread may sleep: only with nothing to do.
    func mayFallAsleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isAsleep = inbox.jobs.isEmpty && inbox.commands.isEmpty
            return inbox.isAsleep
        }
    }

    /// Says that the thread is awake, so that nobody pays for waking it.
    func didWake() {
        inbox.withLock { $0.isAsleep = false }
    }

    /// Closes the door and returns what was still waiting.
    func closeInbox() -> Batch {
        inbox.withLock { inbox in
            inbox.life = .stopped
            return Batch(jobs: exchange(&inbox.jobs), commands: exchange(&inbox.commands))
        }
    }

    /// Whether the process is exiting.
    var mustHalt: Bool { isHalting.load(ordering: .acquiring) }

    private func exchange<Element>(_ list: inout [Element]) -> [Element] {
        if list.isEmpty { return [] }
        let taken = list
        list = []
        return taken
    }

    // MARK: Life of the thread

    /// Starts the thread with the descriptors that it needs, and touches nothing of the engine after that.
    ///
    /// When the system has none to give, what was posted is refused, and the next command tries again.
    private func start() {
        CurlLibrary.prepare()
        guard let descriptors = openDescriptors() else { return giveUp("the process has no descriptor left") }
        process.store(ForkCount.current, ordering: .relaxed)
        EngineRegistry.insert(self)
        let configuration = configuration
        let started = Thread.start(name: Self.threadName) { [self] in
            thread.store(pthread_self(), ordering: .relaxed)
            let selector = Selector(epoll: descriptors.epoll, wakeDescriptor: descriptors.wake)
            asCurrent { EventLoop(engine: self, configuration: configuration, selector: selector).run() }
            // From here on nothing waits for a turn: none follows, and a later thread may get the number of this one.
            thread.store(0, ordering: .relaxed)
            deliverCompletions()
            // What OpenSSL keeps for this thread goes while the exit handler still waits for it.
            OPENSSL_thread_stop()
            EngineRegistry.remove(self)
            ended.signal()
            sayFarewell()
        }
        guard started else {
            close(descriptors.epoll)
            return giveUp("the system gives no thread")
        }
    }

    /// The eventfd, which stays for later attempts, and an epoll; nil when there are none.
    private func openDescriptors() -> (epoll: Int32, wake: Int32)? {
        var wake = wakeDescriptor.load(ordering: .acquiring)
        if wake < 0 {
            wake = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
            wakeDescriptor.store(wake, ordering: .releasing)
        }
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard wake >= 0, epoll >= 0 else {
            if epoll >= 0 { close(epoll) }
            return nil
        }
        return (epoll, wake)
    }

    private func giveUp(_ reason: String) {
        EngineRegistry.remove(self)
        let (batch, farewells) = inbox.withLock { inbox in
            let batch = Batch(jobs: exchange(&inbox.jobs), commands: exchange(&inbox.commands))
            let isStopped = batch.commands.contains { if case .stop = $0 { true } else { false } }
            inbox.life = isStopped ? .ended : .notStarted
            return (batch, isStopped ? exchange(&inbox.farewells) : [])
        }
        for command in batch.commands { command.refuse(because: .noThread(reason)) }
        for job in batch.jobs { globalConcurrentExecutor.enqueue(job) }
        for farewell in farewells { farewell() }
    }

    private func sayFarewell() {
        let farewells = inbox.withLock { inbox in
            inbox.life = .ended
            return exchange(&inbox.farewells)
        }
        for farewell in farewells { farewell() }
    }

    /// Makes the thread return as soon as it can, for the exit of the process.
    func halt() {
        isHalting.store(true, ordering: .releasing)
        wake()
    }

    /// Waits for the thread to end: at most two seconds, since a process must be able to exit, and not at all on the
    /// thread itself, where `exit` may have been called by a job.
    func join() {
        let hasThread = inbox.withLock { $0.life == .running || $0.life == .stopped }
        guard hasThread, !isCurrentThread else { return }
        _ = ended.wait(timeout: .now() + 2)
    }
}

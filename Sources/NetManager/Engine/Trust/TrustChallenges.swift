import Dispatch
import SecurityPolicy

/// Puts servers before the programs' hooks and keeps the answers.
///
/// A handshake cannot wait: it would hold the one thread of the engine, and this libcurl takes no "later" for a
/// verdict. So the handshake that shows a chain for the first time is refused before anything is sent, its transfer is
/// taken out of libcurl, the hook is asked elsewhere, and with its answer the transfer begins anew. Whatever chain that
/// handshake shows is looked up here again. Confined to the engine's thread.
final class TrustChallenges {
    private struct Asked {
        let number: UInt64
        let question: ServerTrustQuestion
        let task: Task<Void, Never>
        var waiting: [TransferID]
    }

    private(set) var memory: ChallengeMemory
    private var asked: [ServerTrustQuestion.Subject: Asked] = [:]
    private var lastNumber: UInt64 = 0
    private let engine: Engine

    init(engine: Engine, capacity: Int) {
        self.engine = engine
        memory = ChallengeMemory(capacity: capacity)
    }

    func isGranted(_ question: ServerTrustQuestion) -> Bool {
        memory.isGranted(question.subject, now: MonotonicClock.nanoseconds)
    }

    /// Asks a hook for a transfer; transfers with the same question share one call.
    func ask(_ question: ServerTrustQuestion, _ hook: ServerTrustHook, for id: TransferID) {
        if asked[question.subject] != nil {
            asked[question.subject]?.waiting.append(id)
            return
        }
        lastNumber += 1
        // A hook that never answers must not keep the engine.
        let task = Task.detached { [weak engine, number = lastNumber] in
            let answer = await hook.handler(question.challenge)
            engine?.post(.answered(number, answer))
        }
        asked[question.subject] = Asked(number: lastNumber, question: question, task: task, waiting: [id])
    }

    /// A transfer ends before there is an answer.
    func leave(_ id: TransferID) {
        for (subject, entry) in asked where entry.waiting.contains(id) {
            asked[subject]?.waiting.removeAll { $0 == id }
            guard asked[subject]?.waiting.isEmpty == true else { continue }
            asked[subject] = nil
            // Cancelling calls what the hook has registered for that, which must not run on the engine's thread.
            DispatchQueue.global().async { entry.task.cancel() }
        }
    }

    /// A hook has answered.
    /// - Returns: What it was asked, and who waits; nil when nobody waits any more.
    func settle(
        _ number: UInt64,
        _ answer: ServerTrustChallenge.Answer
    ) -> (question: ServerTrustQuestion, waiting: [TransferID])? {
        guard let (subject, entry) = asked.first(where: { $0.value.number == number }) else { return nil }
        asked[subject] = nil
        if entry.question.failure(after: answer) == nil {
            memory.grant(subject, now: MonotonicClock.nanoseconds)
        }
        return (entry.question, entry.waiting)
    }
}

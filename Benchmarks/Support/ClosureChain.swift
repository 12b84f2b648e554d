import Synchronization

/// Begins a request for each one that completes, until all are done.
final class ClosureChain: Sendable {
    private let begun = Atomic<Int>(0)
    private let done = Atomic<Int>(0)
    private let errors = Atomic<Int>(0)
    private let count: Int
    private let request: @Sendable (@escaping @Sendable (Bool) -> Void) -> Void
    private let completion: @Sendable (Int) -> Void

    init(
        count: Int,
        request: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> Void,
        completion: @escaping @Sendable (Int) -> Void
    ) {
        self.count = count
        self.request = request
        self.completion = completion
    }

    func next() {
        guard begun.wrappingAdd(1, ordering: .relaxed).newValue <= count else { return }
        request { [self] isGood in
            if !isGood { errors.wrappingAdd(1, ordering: .relaxed) }
            if done.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue == count {
                completion(errors.load(ordering: .relaxed))
            } else {
                next()
            }
        }
    }
}

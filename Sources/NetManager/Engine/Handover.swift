import CThreadSanitizer

/// Takes a value, or an error, from the thread that has it to the task that waits for it.
///
/// It is a continuation and what the thread sanitizer must be told about one: when the value is there before the task
/// has come to wait, the Swift runtime hands it over by an atomic that is not instrumented, and every object that came
/// along would be reported as a race.
struct Handover<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, any Error>

    private init(_ continuation: UnsafeContinuation<Value, any Error>) {
        self.continuation = continuation
    }

    /// Where the runtime keeps the continuation: the same for both sides, and nobody else's meanwhile.
    private var address: UnsafeMutableRawPointer {
        unsafeBitCast(continuation, to: UnsafeMutableRawPointer.self)
    }

    /// Waits for what another thread resumes the handover with, which it must do once.
    /// - Throws: The error that it is resumed with.
    static func value(_ body: (Handover) -> Void) async throws -> Value {
        var address: UnsafeMutableRawPointer?
        defer { nm_thread_sanitizer_acquire(address) }
        return try await withUnsafeThrowingContinuation { continuation in
            let handover = Handover(continuation)
            address = handover.address
            body(handover)
        }
    }

    /// Gives the task its value or error; to be called once.
    func resume(with result: Result<Value, any Error>) {
        switch result {
        case .success(let value): resume(returning: value)
        case .failure(let error): resume(throwing: error)
        }
    }

    /// Gives the task its value; to be called once.
    func resume(returning value: Value) {
        nm_thread_sanitizer_release(address)
        continuation.resume(returning: value)
    }

    /// Gives the task an error; to be called once, and instead of a value.
    func resume(throwing error: any Error) {
        nm_thread_sanitizer_release(address)
        continuation.resume(throwing: error)
    }
}

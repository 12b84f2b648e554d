package import Glibc

/// A value behind a lock of the C library.
///
/// Copies share the value.
///
/// The standard library's `Mutex` would do, but the thread sanitizer does not see its slow path on Linux and reports a
/// race wherever two threads wait for each other; it does see this one.
///
/// Everything is inlinable: without, each use in another module goes through the metadata of a generic type.
///
/// `@unchecked Sendable` is true because the value is touched under the lock only.
package struct Guarded<Value: Sendable>: @unchecked Sendable {
    /// The lock and the value in one piece of memory, freed with the last copy.
    @usableFromInline
    final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        @inlinable
        deinit {
            _ = withUnsafeMutablePointers { lock, value in
                value.deinitialize(count: 1)
                return pthread_mutex_destroy(lock)
            }
        }
    }

    @usableFromInline let storage: ManagedBuffer<pthread_mutex_t, Value>

    /// Puts a value behind a lock.
    @inlinable
    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        storage.withUnsafeMutablePointers { lock, place in
            pthread_mutex_init(lock, nil)
            place.initialize(to: value)
        }
    }

    /// Reads or changes the value.
    ///
    /// Nothing that may wait, and nobody else's code, may be called meanwhile.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { lock, value throws(Failure) in
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
}

public import Glibc

/// A value behind a lock of the C library.
///
/// Copies share the value.
///
/// The standard library's `Mutex` would do, but the thread sanitizer does not see its slow path on Linux and reports a
/// race wherever two threads wait for each other; it does see this one.
///
/// Everything is inlined: without, each use goes through the metadata of a generic type, some 300 instructions. For that it
/// is public, in a module that is no product: what has package access is not specialized in other modules.
///
/// `@unchecked Sendable` is true because the value is touched under the lock only.
@frozen
public struct Guarded<Value: Sendable>: @unchecked Sendable {
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
    @inlinable @inline(__always)
    public init(_ value: consuming Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        let (lock, place) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_init(lock, nil)
        // Outside of a closure, where it is moved and not copied.
        place.initialize(to: value)
        withExtendedLifetime(storage) {}
    }

    /// Whether both are the same value, not equal ones.
    @inlinable
    public func isSame(as other: Guarded) -> Bool { storage === other.storage }

    /// Reads or changes the value.
    ///
    /// Nothing that may wait, and nobody else's code, may be called meanwhile.
    @inlinable @inline(__always)
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeMutablePointers { lock, value throws(Failure) in
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
}

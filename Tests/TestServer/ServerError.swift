import COpenSSL
import Glibc

/// A test server could not do what it was made for.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// What was tried and why it failed.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// A failed call with the reason of `errno`.
    static func system(_ operation: String) -> Self {
        Self("cannot \(operation): \(String(cString: strerror(errno)))")
    }

    /// A failed call with the oldest reason of OpenSSL's queue, which is emptied.
    static func openSSL(_ operation: String) -> Self {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else {
            return Self("cannot \(operation)")
        }
        return Self("cannot \(operation): \(String(cString: reason))")
    }
}

extension Optional {
    /// The value, or OpenSSL's reason for giving none.
    func orThrow(_ operation: String) throws(ServerError) -> Wrapped {
        guard let value = self else { throw .openSSL(operation) }
        return value
    }
}

/// Throws OpenSSL's reason unless a call answered a positive number, its sign of success.
func check(_ result: Int32, _ operation: String) throws(ServerError) {
    guard result > 0 else { throw .openSSL(operation) }
}

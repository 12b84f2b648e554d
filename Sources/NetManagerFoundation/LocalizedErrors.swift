public import Foundation
public import NetManager
public import SecurityPolicy
public import Serializers

// What `localizedDescription` gives: the errors' own texts. They are English and name no secret.

extension RequestError: LocalizedError {
    /// What failed, where, and what to do: the same as `description`.
    public var errorDescription: String? { description }
}

extension SerializationError: LocalizedError {
    /// What is wrong and where: the same as `description`.
    public var errorDescription: String? { description }

    /// Why a file could not be used; nil for everything else.
    public var failureReason: String? {
        if case .file(_, let reason) = self { reason } else { nil }
    }
}

extension TrustError: LocalizedError {
    /// Why the server is not trusted, or the policy cannot be used: the same as `description`.
    public var errorDescription: String? { description }
}

extension CertificateError: LocalizedError {
    /// Which certificate cannot be used, and why: the same as `description`.
    public var errorDescription: String? { description }
}

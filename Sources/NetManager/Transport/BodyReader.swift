package import FoundationEssentials

/// The reading end of a body that is still arriving.
///
/// The last reference to go ends the transfer if it has not ended.
package final class BodyReader: Sendable {
    private let source: any BodySource

    package init(source: any BodySource) {
        self.source = source
    }

    deinit {
        source.abandon()
    }

    /// The next piece; nil at the end.
    package func next() async throws -> Data? {
        try await source.next()
    }

    /// The next piece as it arrived, to be let go of; nil at the end.
    package func nextUndecoded() async throws -> Data? {
        try await source.nextUndecoded()
    }

    /// Ends the transfer; what has not been read is lost.
    package func abandon() {
        source.abandon()
    }
}

/// Where a ``BodyReader`` draws from.
package protocol BodySource: Sendable {
    func next() async throws -> Data?
    func nextUndecoded() async throws -> Data?
    func abandon()
}

extension BodySource {
    package func nextUndecoded() async throws -> Data? { try await next() }
}

/// How far a transfer has come, and why it failed: decisions without a byte of I/O.
struct TransferState {
    private enum Stage {
        /// Nothing of the response has arrived since the request was last started, or interim ones alone.
        case waiting
        /// Inside a header section.
        case head
        /// The header section of the final response has ended.
        case body
        case finished
    }

    private var stage = Stage.waiting
    private var starts = 0
    private var failure: TransferFailure?

    /// Whether a connection was there and the request was begun.
    var hasStarted: Bool { starts > 0 }
    /// Whether the head of the final response to what was sent last is there.
    private(set) var hasHead = false

    /// Whether the server may have acted on the request although no head of a response says so.
    var mayHaveBeenExecuted: Bool { hasStarted && !hasHead }

    /// The request is about to be sent.
    ///
    /// libcurl sends a request again, whatever its method, when a reused connection breaks before a byte of the
    /// response. Only after a header section, as in an exchange of credentials, is that what the caller wants.
    /// - Returns: False when it would be repeated and must not.
    mutating func requestStarts(isIdempotent: Bool) -> Bool {
        defer {
            starts += 1
            stage = .waiting
            // What asked for credentials says nothing about the request that has them.
            hasHead = false
        }
        return starts == 0 || isIdempotent || stage != .waiting
    }

    /// What a header line is.
    enum Line {
        /// The status line of a response, which begins a header section.
        case first
        /// A field, or the end, of a header section.
        case field
        /// A field behind the content, or the end of those.
        case trailer
        /// Nothing that may stand there.
        case misplaced
    }

    /// A header line arrived.
    /// - Parameter looksFirst: Whether it reads like a status line. In the middle of a section, which libcurl takes it for
    ///   a field of, nobody knows what it means; behind the content it is a field that is none.
    /// - Returns: What it is.
    mutating func headerLine(looksFirst: Bool) -> Line {
        switch stage {
        case .waiting:
            guard looksFirst else { return .misplaced }
            stage = .head
            hasHead = false
            return .first
        case .head: return looksFirst ? .misplaced : .field
        case .body: return .trailer
        case .finished: return .misplaced
        }
    }

    /// A header section has ended.
    /// - Returns: Whether it is that of the final response: 1xx answers come before it (RFC 9110, section 15.2).
    mutating func headEnds(status: Int) -> Bool {
        // 101 is final: nothing is upgraded here, so whatever follows is the body of a broken answer.
        guard status >= 200 || status == 101 else {
            // What answers the request is still to come.
            stage = .waiting
            return false
        }
        stage = .body
        hasHead = true
        return true
    }

    /// Notes why the transfer must end; the first reason counts.
    /// - Returns: Always false, which is what callbacks return to end a transfer.
    mutating func fail(_ failure: TransferFailure) -> Bool {
        if self.failure == nil { self.failure = failure }
        return false
    }

    /// Ends the transfer.
    /// - Returns: The reason that counts, the one noted first; nil when there is none.
    mutating func finish(_ failure: TransferFailure?) -> TransferFailure? {
        stage = .finished
        return self.failure ?? failure
    }
}

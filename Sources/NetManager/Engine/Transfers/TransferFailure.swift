import SecurityPolicy

/// Why the engine itself ended a transfer.
///
/// The first reason counts, whatever libcurl says afterwards.
enum TransferFailure: Error, Sendable {
    case cancelled
    case shutDown
    case outOfMemory
    /// There is no thread to carry requests: why.
    case noThread(String)
    case invalidURL
    /// Options that contradict themselves, or that cannot be kept.
    case invalidConfiguration(String)
    /// A time limit passed, in this phase.
    case timedOut(RequestError.Phase)
    /// The host's address is one that the options refuse.
    case addressRefused(String)
    /// A pinned policy and a URL that is not https.
    case pinnedWithoutTLS
    /// https, and the system's libcurl has a TLS library that cannot be asked.
    case unsuitableTLSLibrary(String)
    case untrusted(TrustError)
    /// The program's hook answered a challenge by cancelling the call.
    case challengeCancelled
    /// libcurl wanted to send a request again that must not be repeated.
    case wouldRepeat
    case bodyTooLarge
    case headersTooLarge
    /// Decoding made far more of the body than was received.
    case decompressionBomb
    /// The body is not coded as its head says, or in a way that nobody asked for: what is wrong.
    case undecodable(String)
    /// The body ends before its content coding does, although the message is complete.
    case truncatedCoding
    /// The response head is none, or contradicts itself.
    case malformedHead
    /// The connection ended inside the response head, which libcurl takes for success.
    case incompleteHead
    /// The body to send is longer or shorter than declared, or its source threw.
    case bodyToSend(String)
    /// A file to send cannot be read.
    case file(String)
    /// libcurl refused an option: its number.
    case option(Int)
}

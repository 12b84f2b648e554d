/// What the program's exit status says, the same for every command.
package enum CommandStatus: Int32, Sendable, CaseIterable {
    /// Done, and the answer is yes.
    case success = 0
    /// The answer is no: a server that is not trusted, a pin that is not there, a host that needs attention.
    case refused = 1
    /// It could not be done: wrong usage, a file, the network.
    case failed = 2
    /// The server answered with a status of 400 to 499.
    case clientError = 4
    /// The server answered with a status of 500 or more.
    case serverError = 5

    /// The meaning in a few words, for help.
    var meaning: String {
        switch self {
        case .success: "done, and the answer is yes"
        case .refused: "the answer is no: not trusted, not pinned, needs attention"
        case .failed: "could not be done: usage, file or network"
        case .clientError: "the server answered with 4xx"
        case .serverError: "the server answered with 5xx"
        }
    }
}

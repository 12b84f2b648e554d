/// Why a command ended early.
struct CommandFailure: Error {
    /// What is said on standard error, behind the program's name.
    var message: String
    /// The exit status.
    var status: CommandStatus = .failed
    /// Whether the command line was wrong, and its help is worth a look.
    var isUsage = false

    static func usage(_ message: String) -> CommandFailure {
        CommandFailure(message: message, isUsage: true)
    }
}

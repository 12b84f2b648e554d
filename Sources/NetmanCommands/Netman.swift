/// The program netman: chooses a command and runs it.
package enum Netman {
    /// Every command, in the order of the overview.
    static let all: [any NetmanCommand] =
        [PinsCommand(), ConvertCommand(), CheckCommand(), BackupKeyCommand()]
        + RequestCommand.methods.map { RequestCommand(method: $0) }

    /// Runs the program.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's own name.
    ///   - console: Where to write.
    /// - Returns: The exit status.
    package static func run(_ arguments: [String], console: Console) async -> Int32 {
        guard let name = arguments.first, !["--help", "-h", "help"].contains(name) else {
            console.print(HelpText.overview(all.map(\.spec)))
            return arguments.isEmpty ? CommandStatus.failed.rawValue : CommandStatus.success.rawValue
        }
        guard let command = all.first(where: { $0.spec.name == name.lowercased() }) else {
            console.note("netman: there is no command \(name); see netman --help")
            return CommandStatus.failed.rawValue
        }
        do {
            let parsed = try command.spec.parse(Array(arguments.dropFirst()))
            if parsed.has("help") {
                console.print(HelpText.of(command.spec))
                return CommandStatus.success.rawValue
            }
            return try await command.run(parsed, console).rawValue
        } catch let failure as CommandFailure {
            console.note("netman: " + Style.red(failure.message, on: console.errors))
            if failure.isUsage { console.note("See netman \(command.spec.name) --help") }
            return failure.status.rawValue
        } catch {
            console.note("netman: " + Style.red("\(error)", on: console.errors))
            return CommandStatus.failed.rawValue
        }
    }
}

/// One of the program's commands.
protocol NetmanCommand: Sendable {
    var spec: CommandSpec { get }
    /// Does it.
    ///
    /// - Throws: ``CommandFailure``, or any other error, which is printed and is status 2.
    func run(_ arguments: ParsedArguments, _ console: Console) async throws -> CommandStatus
}

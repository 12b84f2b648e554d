/// What a command is called with, for its parser and its help.
struct CommandSpec: Sendable {
    struct Option: Sendable {
        /// Without the hyphens.
        var name: String
        var short: Character?
        /// What its value is called in help; nil for a switch.
        var value: String?
        var help: String
        /// Whether it may be given more than once.
        var repeats = false

        init(
            _ name: String,
            short: Character? = nil,
            value: String? = nil,
            repeats: Bool = false,
            _ help: String
        ) {
            self.name = name
            self.short = short
            self.value = value
            self.repeats = repeats
            self.help = help
        }
    }

    var name: String
    /// The words behind the name, as `HOST[:PORT] | FILE`.
    var usage: String
    /// One line for the list of commands.
    var summary: String
    /// Paragraphs; lines that begin with two blanks are kept as they are.
    var details: [String] = []
    var options: [Option] = []
    var statuses: [CommandStatus] = [.success, .refused, .failed]

    static let help = Option("help", short: "h", "Shows this.")
}

extension CommandSpec {
    /// Takes a command line apart: `--name value`, `--name=value`, `-n value`, `--` before what is no option.
    func parse(_ arguments: [String]) throws(CommandFailure) -> ParsedArguments {
        var parsed = ParsedArguments()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                parsed.positional += rest
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                parsed.positional.append(argument)
                continue
            }
            let (option, attached) = try find(argument)
            if let placeholder = option.value {
                guard let value = attached ?? rest.popFirst() else {
                    throw .usage("--\(option.name) needs a value: --\(option.name) \(placeholder)")
                }
                if parsed.values[option.name] != nil, !option.repeats {
                    throw .usage("--\(option.name) is given twice")
                }
                parsed.values[option.name, default: []].append(value)
            } else {
                guard attached == nil else { throw .usage("--\(option.name) takes no value") }
                parsed.values[option.name] = []
            }
        }
        return parsed
    }

    private func find(_ argument: String) throws(CommandFailure) -> (Option, attached: String?) {
        let known = options + [Self.help]
        guard argument.hasPrefix("--") else {
            let letter = argument.dropFirst()
            guard let first = letter.first, let option = known.first(where: { $0.short == first }) else {
                throw .usage("\(name) knows no option \(argument)")
            }
            let attached = letter.dropFirst()
            return (option, attached.isEmpty ? nil : String(attached))
        }
        let parts = argument.dropFirst(2).split(
            separator: "=",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard let wanted = parts.first, let option = known.first(where: { $0.name == wanted }) else {
            throw .usage("\(name) knows no option --\(parts.first ?? "")")
        }
        return (option, parts.count > 1 ? String(parts[1]) : nil)
    }
}

/// Writes help so that it fits a terminal of 80 columns.
enum HelpText {
    static let width = 80

    static func of(_ command: CommandSpec) -> String {
        var lines = ["usage: netman \(command.name) \(command.usage)", "", command.summary, ""]
        for (index, paragraph) in command.details.enumerated() {
            let isKept = paragraph.hasPrefix("  ")
            lines += isKept ? [paragraph] : wrapped(paragraph, width: width)
            let isFollowed = index + 1 < command.details.count && command.details[index + 1].hasPrefix("  ")
            if !(isKept && isFollowed) { lines.append("") }
        }
        lines.append("Options:")
        for option in command.options + [CommandSpec.help] {
            let short = option.short.map { "-\($0), " } ?? "    "
            let head = "  \(short)--\(option.name)" + (option.value.map { " \($0)" } ?? "")
            lines += columns(head, option.help)
        }
        lines += ["", "Exit status:"]
        for status in command.statuses { lines += columns("  \(status.rawValue)", status.meaning, indent: 5) }
        return lines.joined(separator: "\n")
    }

    static func overview(_ commands: [CommandSpec]) -> String {
        var lines = [
            "usage: netman COMMAND [ARGUMENTS]", "",
            "Pins, certificates, policies and requests for NetManager.", "", "Commands:",
        ]
        for command in commands { lines += columns("  \(command.name)", command.summary, indent: 15) }
        lines += [
            "", "'netman COMMAND --help' explains a command. The exit status:", "",
        ]
        for status in CommandStatus.allCases {
            lines += columns("  \(status.rawValue)", status.meaning, indent: 5)
        }
        lines += [
            "", "Colors are used on terminals only, and not if NO_COLOR is set.",
        ]
        return lines.joined(separator: "\n")
    }

    private static func columns(_ head: String, _ text: String, indent: Int = 26) -> [String] {
        let texts = wrapped(text, width: width - indent)
        let blank = String(repeating: " ", count: indent)
        guard head.count < indent - 1 else { return [head] + texts.map { blank + $0 } }
        let padded = head + String(repeating: " ", count: indent - head.count)
        return [padded + (texts.first ?? "")] + texts.dropFirst().map { blank + $0 }
    }

    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }
}

package import FoundationEssentials
import Glibc

/// Where a command writes, and what it may do there.
package struct Console: Sendable {
    /// A stream that a command writes to.
    package struct Stream: Sendable {
        /// Whether a person looks at it.
        package var isTerminal: Bool
        /// Whether escape sequences for colors are wanted.
        package var hasColors: Bool
        /// Columns; nil where nobody counts them.
        package var width: Int?
        /// Takes bytes.
        package var write: @Sendable (Data) -> Void

        /// Makes a stream.
        package init(
            isTerminal: Bool,
            hasColors: Bool,
            width: Int?,
            write: @escaping @Sendable (Data) -> Void
        ) {
            self.isTerminal = isTerminal
            self.hasColors = hasColors
            self.width = width
            self.write = write
        }
    }

    /// For results.
    package var output: Stream
    /// For everything else: warnings, errors, progress.
    package var errors: Stream
    /// Asks for a line that is not shown while it is typed; throws when there is nobody to ask.
    package var askSecretly: @Sendable (_ question: String) throws -> [UInt8]

    /// Makes a console of two streams and somebody to ask.
    package init(
        output: Stream,
        errors: Stream,
        askSecretly: @escaping @Sendable (_ question: String) throws -> [UInt8]
    ) {
        self.output = output
        self.errors = errors
        self.askSecretly = askSecretly
    }

    /// The process's own standard output and error, and its terminal.
    package static func system() -> Console {
        Console(
            output: .system(STDOUT_FILENO),
            errors: .system(STDERR_FILENO),
            askSecretly: { try TerminalQuestion.ask($0) }
        )
    }

    /// Writes a result and a line break; control characters are made visible.
    func print(_ line: String = "") {
        output.write(Data((Printable.text(line, keeping: output.hasColors) + "\n").utf8))
    }

    /// Writes a remark to standard error; control characters are made visible.
    func note(_ line: String) {
        errors.write(Data((Printable.text(line, keeping: errors.hasColors) + "\n").utf8))
    }
}

extension Console.Stream {
    /// A descriptor of the process.
    static func system(_ descriptor: Int32) -> Console.Stream {
        let isTerminal = isatty(descriptor) == 1
        return Console.Stream(
            isTerminal: isTerminal,
            hasColors: isTerminal && Self.wantsColors,
            width: isTerminal ? columns(of: descriptor) : nil
        ) { data in
            // Where nobody reads any more, what is left has no place to go.
            _ = data.write(toDescriptor: descriptor)
        }
    }

    /// https://no-color.org: any value but an empty one says no.
    private static var wantsColors: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb"
    }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

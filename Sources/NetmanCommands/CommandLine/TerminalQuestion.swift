import Glibc

/// Asks the person at the terminal for what must not be seen.
enum TerminalQuestion {
    /// Asks on the process's own terminal, wherever its standard streams lead.
    ///
    /// - Throws: ``CommandFailure``: when there is no terminal, or nothing was answered.
    static func ask(_ question: String) throws(CommandFailure) -> [UInt8] {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw noTerminal }
        defer { close(terminal) }
        return try ask(question, on: terminal)
    }

    /// Asks on this terminal, and leaves it as it was.
    static func ask(_ question: String, on terminal: Int32) throws(CommandFailure) -> [UInt8] {
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { throw noTerminal }
        // Raw, with the signals of the keyboard off: a control-C that ended the process here would leave the
        // terminal without an echo. Output stays as it was.
        var silent = before
        cfmakeraw(&silent)
        silent.c_oflag = before.c_oflag
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { throw noTerminal }
        defer {
            tcsetattr(terminal, TCSAFLUSH, &before)
            write("\n", to: terminal)
        }
        write(question, to: terminal)
        var line = SecretLine()
        while true {
            var byte: UInt8 = 0
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw cancelled }
            switch line.take(byte) {
            case .line(let bytes): return bytes
            case .cancelled: throw cancelled
            case .tooLong:
                throw CommandFailure(message: "that is longer than \(SecretLine.limit) bytes")
            case nil: break
            }
        }
    }

    private static var noTerminal: CommandFailure {
        CommandFailure(message: "there is no terminal to ask for the passphrase; give --passphrase-file")
    }

    private static var cancelled: CommandFailure { CommandFailure(message: "cancelled; nothing was made") }

    /// A terminal takes a line whole.
    private static func write(_ text: String, to terminal: Int32) {
        _ = Glibc.write(terminal, text, text.utf8.count)
    }
}

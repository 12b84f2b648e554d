import Dispatch
import Glibc
import Testing

@testable import NetmanCommands

@Suite struct SecretLineTests {
    private func end(_ bytes: some Sequence<UInt8>) -> SecretLine.End? {
        var line = SecretLine()
        for byte in bytes {
            if let end = line.take(byte) { return end }
        }
        return nil
    }

    @Test(arguments: [
        ("abc\n", "abc"), ("abc\r", "abc"), ("abc\u{4}", "abc"), ("ab\u{7F}c\n", "ac"), ("aü\u{8}b\n", "ab"),
        ("\u{7F}a\n", "a"), ("wrong\u{15}right\n", "right"), ("\n", ""), ("日本\u{7F}\n", "日"),
    ])
    func `keys make a line, and take back whole characters`(typed: String, line: String) {
        #expect(end(typed.utf8) == .line(Array(line.utf8)))
    }

    @Test(arguments: ["abc\u{3}", "\u{4}", "a\u{7F}\u{4}"])
    func `control-C and the end of input cancel`(typed: String) {
        #expect(end(typed.utf8) == .cancelled)
    }

    @Test func `a line without an end has a limit`() {
        #expect(end(repeatElement(UInt8(ascii: "x"), count: SecretLine.limit)) == nil)
        #expect(end(repeatElement(UInt8(ascii: "x"), count: SecretLine.limit + 1)) == .tooLong)
    }

    @Test func `what is typed is not shown, and the terminal is left as it was`() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.localFlags
        #expect(before & tcflag_t(ECHO) != 0)
        let answer = terminal.asking("Passphrase: ")
        #expect(await terminal.shown(until: "Passphrase: ") == "Passphrase: ")
        #expect(terminal.localFlags & tcflag_t(ECHO | ICANON | ISIG) == 0)
        terminal.type("secret\u{7F}T\r")
        #expect(try await answer.value.get() == Array("secreT".utf8))
        #expect(await terminal.shown(until: "\n") == "\r\n")
        #expect(terminal.localFlags == before)
    }

    @Test func `a cancelled question leaves the terminal as it was`() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.localFlags
        let answer = terminal.asking("Passphrase: ")
        _ = await terminal.shown(until: "Passphrase: ")
        terminal.type("secret\u{3}")
        await #expect(throws: CommandFailure.self) { try await answer.value.get() }
        #expect(terminal.localFlags == before)
    }

    @Test func `what is no terminal is not asked`() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(throws: CommandFailure.self) { try TerminalQuestion.ask("?", on: ends[0]) }
    }

    @Test func `what is pasted without an end is refused, and the terminal left as it was`() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.localFlags
        let answer = terminal.asking("Passphrase: ")
        _ = await terminal.shown(until: "Passphrase: ")
        terminal.type(String(repeating: "x", count: SecretLine.limit + 1))
        let error = await #expect(throws: CommandFailure.self) { try await answer.value.get() }
        #expect(error?.message.contains("longer than \(SecretLine.limit) bytes") == true)
        #expect(terminal.localFlags == before)
    }
}

import Dispatch
import Glibc

@testable import NetmanCommands

/// A terminal without a screen, with a person at its other end.
final class PseudoTerminal: Sendable {
    private let person: Int32
    /// The program's end, for a program that is started on it.
    let program: Int32

    init() throws {
        // What posix_openpt(3), unlockpt(3) and ptsname(3) do, which Swift's Glibc does not show (ioctl_tty(2)).
        let unlock: UInt = 0x4004_5431
        let getNumber: UInt = 0x8004_5430
        var lock: CInt = 0
        var number: CUnsignedInt = 0
        person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard person >= 0, ioctl(person, unlock, &lock) == 0, ioctl(person, getNumber, &number) == 0 else {
            throw Failure(code: errno)
        }
        program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard program >= 0 else { throw Failure(code: errno) }
    }

    deinit {
        close(program)
        close(person)
    }

    struct Failure: Error { var code: Int32 }

    /// Echo, line editing, signals (termios(3)).
    var localFlags: tcflag_t {
        var settings = termios()
        tcgetattr(program, &settings)
        return settings.c_lflag
    }

    /// Asks, as the program would.
    func asking(_ question: String) -> Task<Result<[UInt8], any Error>, Never> {
        Task {
            await Self.onThread { Result { try TerminalQuestion.ask(question, on: self.program) } }
        }
    }

    func type(_ keys: String) { _ = write(person, keys, keys.utf8.count) }

    /// What the person has seen when the text has come.
    func shown(until text: String) async -> String {
        let end = Array(text.utf8)
        let seen = await Self.onThread {
            var seen: [UInt8] = []
            var byte: UInt8 = 0
            while seen.suffix(end.count) != end[...], read(self.person, &byte, 1) == 1 { seen.append(byte) }
            return seen
        }
        return String(decoding: seen, as: UTF8.self)
    }

    /// Reading from a terminal blocks, and may not do so on a thread of Swift's pool.
    private static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: work()) }
        }
    }
}

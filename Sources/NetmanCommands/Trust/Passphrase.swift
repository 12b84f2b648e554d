import Glibc

/// What a private key is encrypted under.
struct Passphrase: Equatable {
    /// Shorter ones are found by trying, whatever the key is derived with.
    static let shortest = 8

    let text: String

    /// Takes what was typed or read.
    ///
    /// - Throws: ``CommandFailure``, for a passphrase that protects nothing or that could not be given again: it is text
    ///   without control characters, because ``SecurityPolicy/ClientIdentity`` and `openssl` take text.
    init(_ bytes: some Sequence<UInt8>) throws(CommandFailure) {
        guard let text = String(validating: Array(bytes), as: UTF8.self) else {
            throw CommandFailure(message: "the passphrase is no UTF-8")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw CommandFailure(
                message:
                    "the passphrase has a control character: a key that does not type, or a Windows line end"
            )
        }
        guard text.count >= Self.shortest else {
            throw CommandFailure(message: "the passphrase needs at least \(Self.shortest) characters")
        }
        self.text = text
    }

    /// Reads the first line of a file, as `openssl -passin file:` does; a pipe will do.
    init(contentsOf path: String) throws(CommandFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path) }
        defer { close(descriptor) }
        var line: [UInt8] = []
        while line.count <= SecretLine.limit {
            var byte: UInt8 = 0
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.unreadable(path) }
            guard count == 1, byte != 0x0A else {
                try self.init(line)
                return
            }
            line.append(byte)
        }
        throw CommandFailure(message: "\(path): its first line is longer than \(SecretLine.limit) bytes")
    }

    /// Asks twice, since nobody sees what is typed.
    init(askingBy ask: (String) throws -> [UInt8]) throws {
        let first = try Self(ask("Passphrase for the key: "))
        guard try ask("The same again: ") == Array(first.text.utf8) else {
            throw CommandFailure(message: "the two are not the same; nothing was made")
        }
        self = first
    }

    private static func unreadable(_ path: String) -> CommandFailure {
        CommandFailure(message: "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
}

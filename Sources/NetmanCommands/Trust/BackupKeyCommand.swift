import FoundationEssentials
import SecurityPolicy

/// Makes a key to be pinned before it is needed.
struct BackupKeyCommand: NetmanCommand {
    let spec = CommandSpec(
        name: "backup-key",
        usage: "NAME",
        summary: "Makes a spare key, its signing request and its pin.",
        details: [
            """
            Writes NAME.key (PKCS#8, for its owner only), NAME.csr and NAME.pin, and prints the pin. Pin it beside \
            the key in use, keep the file offline, and have the request signed on the day when the other key must go.
            """,
            """
            The key is not encrypted unless --encrypt or --passphrase-file asks for it: then with AES-256-CBC under \
            PBKDF2, which 'openssl pkey' and ClientIdentity read. A lost passphrase is a lost key.
            """,
        ],
        options: [
            .init(
                "host",
                value: "HOST",
                repeats: true,
                "A name in the request; NAME itself if it looks like a host."
            ),
            .init("type", value: "KIND", "p256 (the default), p384, rsa2048, rsa3072 or rsa4096."),
            .init("encrypt", "Asks on the terminal for a passphrase, and encrypts the key under it."),
            .init(
                "passphrase-file",
                value: "FILE",
                "Encrypts the key under the first line of FILE, which may be /dev/stdin."
            ),
            .init("directory", short: "d", value: "FOLDER", "Where the files are made; here by default."),
        ],
        statuses: [.success, .failed]
    )

    func run(_ arguments: ParsedArguments, _ console: Console) async throws -> CommandStatus {
        guard let name = arguments.positional.first, arguments.positional.count == 1 else {
            throw CommandFailure.usage("backup-key takes one name")
        }
        guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("."), !name.utf8.contains(0) else {
            throw CommandFailure.usage(
                "the name is one of a file: without a slash, and no dot at its beginning"
            )
        }
        let kindName = arguments.value("type") ?? "p256"
        guard let kind = BackupKey.Kind(rawValue: kindName.lowercased()) else {
            let known = BackupKey.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure.usage("there is no kind \(kindName); there are \(known)")
        }
        var hosts = try arguments.all("host").map { try ServerAddress($0).host }
        if hosts.isEmpty, name.contains("."), let host = try? ServerAddress(name).host { hosts = [host] }
        let base = (arguments.value("directory").map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? "") + name
        for ending in ["key", "csr", "pin"] where FileManager.default.fileExists(atPath: "\(base).\(ending)")
        {
            throw CommandFailure(message: "\(base).\(ending) is there already; choose another name")
        }
        let passphrase = try passphrase(arguments, console)
        let key = try BackupKey(kind: kind)
        let request = try key.signingRequest(commonName: hosts.first ?? name, hosts: hosts)
        let pem =
            if let passphrase {
                try OpenSSLBytes.pem(
                    "ENCRYPTED PRIVATE KEY",
                    key.encryptedPrivateKey(under: passphrase)
                )
            } else {
                OpenSSLBytes.pem("PRIVATE KEY", key.privateKey)
            }
        try OutputFile(path: base + ".key", mode: 0o600).write(Data(pem.utf8))
        try OutputFile(path: base + ".csr")
            .write(Data(OpenSSLBytes.pem("CERTIFICATE REQUEST", request).utf8))
        try OutputFile(path: base + ".pin").write(Data("\(key.pin)\n".utf8))
        console.print("\(key.pin)")
        console.note(
            """
            \(base).key\(passphrase == nil ? "" : " (encrypted)"), \(base).csr and \(base).pin are made. Move the key \
            to a place that is offline.
            """
        )
        return .success
    }

    /// Nil when the key is to be written as it is.
    private func passphrase(_ arguments: ParsedArguments, _ console: Console) throws -> Passphrase? {
        if let path = arguments.value("passphrase-file") { return try Passphrase(contentsOf: path) }
        guard arguments.has("encrypt") else { return nil }
        return try Passphrase(askingBy: console.askSecretly)
    }
}

import FoundationEssentials
import SecurityPolicy

/// Prints the pins of a server or of a certificate file.
struct PinsCommand: NetmanCommand {
    let spec = CommandSpec(
        name: "pins",
        usage: "HOST[:PORT] | FILE",
        summary: "Prints the pins of a server's or a file's certificates.",
        details: [
            """
            A FILE is DER, PEM or PKCS#7. What is the name of a file is one; else it is a host, whose certificates \
            are read in a handshake in which nothing is trusted and no request is sent.
            """,
            """
            A pin is the SHA-256 of a public key. One that was read from the network is as good as that network: \
            compare it with what the server's owner says, or give that with --expect.
            """,
        ],
        options: [
            .init(
                "format",
                short: "f",
                value: "FORM",
                "table (the default), sha256 (sha256/BASE64, one a line), curl (for --pinnedpubkey), swift or json."
            ),
            .init(
                "expect",
                value: "PIN",
                repeats: true,
                "Exits with 1 unless one of the certificates has one of these pins."
            ),
            .init("host", "Takes the argument for a host, even if there is such a file."),
            .init("timeout", value: "SECONDS", "The time for the handshake; 15 by default."),
        ]
    )

    func run(_ arguments: ParsedArguments, _ console: Console) async throws -> CommandStatus {
        guard let target = arguments.positional.first, arguments.positional.count == 1 else {
            throw CommandFailure.usage("pins takes one host or file")
        }
        let name = arguments.value("format") ?? "table"
        guard let format = PinsOutput.Format(rawValue: name) else {
            let known = PinsOutput.Format.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure.usage("there is no format \(name); there are \(known)")
        }
        let expected = try arguments.all("expect").map(Self.pin)
        let isFile =
            !arguments.has("host") && (target.contains("/") || FileManager.default.fileExists(atPath: target))
        var output = PinsOutput(source: target, certificates: [], verdict: nil)
        if isFile, !target.lowercased().hasPrefix("https://") {
            output.certificates = try Certificate.load(contentsOf: target)
        } else {
            let server = try ServerAddress(target)
            var probe = ChainProbe(timeout: try arguments.seconds("timeout") ?? .seconds(15))
            // Whoever misspells a file's name hears of a host otherwise.
            if !arguments.has("host") {
                probe.hint = "There is no file \(Printable.text(target)) either."
            }
            let trust = try await probe.certificates(of: server)
            output.source = server.description
            output.certificates = trust.certificates
            output.verdict = Self.verdict(on: trust, of: server.host)
            if expected.isEmpty {
                console.note(
                    Style.yellow(
                        "These pins were read from the network that you are on. Compare them (--expect).",
                        on: console.errors
                    )
                )
            }
        }
        output.print(as: format, on: console)
        guard !expected.isEmpty else { return .success }
        let found = output.certificates.firstIndex { expected.contains($0.publicKeyPin) }
        guard let found else {
            console.note(Style.red("None of the certificates has an expected pin.", on: console.errors))
            return .refused
        }
        console.note(Style.green("Certificate \(found) has an expected pin.", on: console.errors))
        return .success
    }

    /// What a policy without pins says.
    private static func verdict(on trust: ServerTrust, of host: String) -> String {
        do {
            try SecurityPolicy.default.evaluate(trust, forDomain: host)
            return "trusted by this system's authorities"
        } catch {
            return "not trusted by this system's authorities"
        }
    }

    static func pin(_ text: String) throws(CommandFailure) -> PublicKeyPin {
        guard let pin = PublicKeyPin(text) else {
            throw .usage("\(Printable.text(text)) is no pin: sha256/ and 32 bytes in base64")
        }
        return pin
    }
}

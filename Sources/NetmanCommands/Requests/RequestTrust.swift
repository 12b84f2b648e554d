import FoundationEssentials
import NetManager
import SecurityPolicy

/// What the options say about whom to trust.
struct RequestTrust: Sendable {
    var signature: String?
    var directories: [String]
    var pins: [PublicKeyPin]
    var allowsInvalid: Bool
    var policyFile: String?

    /// Reads the options; only one of the three ways can be taken.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        signature = arguments.value("signature")
        directories = arguments.all("certificates")
        pins = []
        for text in arguments.all("pin") { pins.append(try PinsCommand.pin(text)) }
        allowsInvalid = arguments.has("allow-invalid")
        policyFile = arguments.value("policy")
        let ways = [signature != nil, !pins.isEmpty, policyFile != nil].filter { $0 }.count
        guard ways <= 1 else { throw .usage("--signature, --pin and --policy exclude each other") }
        guard !allowsInvalid || !pins.isEmpty else { throw .usage("--allow-invalid needs --pin") }
    }

    func apply(to configuration: inout HTTPSessionManager.Configuration) throws {
        if !directories.isEmpty { configuration.certificateDirectories = directories }
        if let policyFile { configuration.hostPolicies = try HostPolicies.load(contentsOf: policyFile) }
        guard !pins.isEmpty else { return }
        configuration.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedPublicKeys: Set(pins),
            allowInvalidCertificates: allowsInvalid
        )
    }

    var options: RequestOptions {
        var options = RequestOptions()
        options.signature = signature
        return options
    }

    /// The request for curl, with what curl can be told about trust.
    func curlCommand(_ request: HTTPRequest, revealing: Bool) -> String {
        var command = request.curlCommand(revealingSecrets: revealing)
        if !pins.isEmpty {
            let list = pins.map { "sha256//\($0.base64)" }.joined(separator: ";")
            command =
                "curl --pinnedpubkey '\(list)'" + (allowsInvalid ? " --insecure" : "") + command.dropFirst(4)
        }
        return command
    }

    /// What curl's command leaves out or does otherwise; empty for nothing.
    func curlRemarks(_ request: HTTPRequest, revealing: Bool) -> [String] {
        var remarks: [String] = []
        if signature != nil || policyFile != nil {
            remarks.append("curl has no such policy; the command does not pin.")
        }
        if !pins.isEmpty {
            remarks.append("curl compares the server's own key only, and no other of the path.")
        }
        if request.body != nil, !revealing {
            remarks.append(
                "The body and what looks like a secret are left out; --reveal-secrets writes them."
            )
        }
        return remarks
    }
}

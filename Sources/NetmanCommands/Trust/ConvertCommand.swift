import FoundationEssentials
import SecurityPolicy

/// Writes certificates in another form.
struct ConvertCommand: NetmanCommand {
    let spec = CommandSpec(
        name: "convert",
        usage: "IN OUT",
        summary: "Writes certificates in another form: .cer, .der, .crt, .pem, .p7b.",
        details: [
            """
            IN may be DER, PEM or PKCS#7, whatever its name says. The name of OUT chooses the form: .cer and .der \
            are DER (one certificate), .crt and .pem are PEM, .p7b is PKCS#7. Private keys are refused.
            """
        ],
        options: [
            .init("to", value: "FORM", "der, pem or p7b, instead of what the name of OUT says."),
            .init("index", value: "N", "Only the certificate at this place, from 0."),
            .init("force", "Replaces OUT if it is there."),
        ],
        statuses: [.success, .failed]
    )

    func run(_ arguments: ParsedArguments, _ console: Console) async throws -> CommandStatus {
        guard arguments.positional.count == 2 else { throw CommandFailure.usage("convert takes IN and OUT") }
        let (input, output) = (arguments.positional[0], arguments.positional[1])
        let form: CertificateFileForm
        if let name = arguments.value("to") {
            guard let named = CertificateFileForm(rawValue: name.lowercased()) else {
                throw CommandFailure.usage("there is no form \(name); there are der, pem and p7b")
            }
            form = named
        } else {
            guard let meant = CertificateFileForm(path: output) else {
                throw CommandFailure.usage("the name of \(output) says no form; name it with --to")
            }
            form = meant
        }
        var certificates = try Certificate.load(contentsOf: input)
        if let text = arguments.value("index") {
            guard let index = Int(text), certificates.indices.contains(index) else {
                let last = certificates.count - 1
                throw CommandFailure.usage(
                    "--index takes a number from 0 to \(last): so many are in \(input)"
                )
            }
            certificates = [certificates[index]]
        }
        try OutputFile(path: output, replaces: arguments.has("force")).write(form.data(certificates))
        for certificate in certificates {
            console.note("\(output): \(certificate.subject), \(certificate.publicKeyPin)")
        }
        return .success
    }
}

import HTTPMessage

extension RequestCommand {
    static func spec(of method: HTTPMethod) -> CommandSpec {
        let hasBody = ![.get, .head].contains(method)
        var options: [CommandSpec.Option] = [
            .init(
                "signature",
                value: "NAME",
                "The certificate file that the server must have: its name in the folders of --certificates."
            ),
            .init(
                "certificates",
                value: "FOLDER",
                repeats: true,
                "Where certificates are looked up; Certificates beside the program and here by default."
            ),
            .init("pin", value: "PIN", repeats: true, "A key that must be in the server's path (sha256/…)."),
            .init(
                "allow-invalid",
                "With --pin: the system's authorities need not vouch for the server; its pinned key does."
            ),
            .init("policy", value: "FILE", "A policy file, which has a policy for each host."),
        ]
        if hasBody {
            options += [
                .init("form", short: "f", "Sends the parameters as a form instead of JSON."),
                .init("multipart", "Sends the parameters as a multipart form."),
            ]
        }
        options += [
            .init(
                "explain",
                "Says on standard error what it cost, over which TLS, and why the server is trusted."
            ),
            .init("as-curl", "Prints the request as a command of curl and sends nothing."),
            .init("reveal-secrets", "With --as-curl: writes secrets as they are."),
            .init("headers", "Prints the head of the response only."),
            .init("body", short: "b", "Prints the body only, on terminals too."),
            .init("follow", short: "F", "Follows redirects."),
            .init("timeout", value: "SECONDS", "The time for all of it; 60 by default."),
        ]
        if method == .get {
            options += [
                .init(
                    "download",
                    short: "d",
                    "Saves the body as a file, and continues what an earlier try has left (NAME.download)."
                ),
                .init(
                    "output",
                    short: "o",
                    value: "PATH",
                    "With --download: the file; the URL's last part by default."
                ),
                .init("force", "With --download: replaces the file if it is there."),
            ]
        }
        return CommandSpec(
            name: method.rawValue.lowercased(),
            usage: "URL [ITEM …]",
            summary: "Sends a \(method.rawValue) request.",
            details: [
                """
                https:// is put before a URL without a scheme; :8080/path is http on localhost. On a terminal the \
                head and the body are shown; else the body's bytes are written.
                """,
                "Items, as HTTPie reads them; a backslash takes a character's meaning away:",
                "  Name:value    a header field; without a value it is left out",
                "  name=value    a parameter: in JSON, in a form, or in the URL of GET and DELETE",
                "  name:=json    a parameter that is a number, a list, true …",
                "  name==value   a parameter in the URL",
            ]
                + (hasBody
                    ? [
                        "  name@path     a file in a multipart form",
                        "  @path         the file is the whole body",
                    ]
                    : []),
            options: options,
            statuses: CommandStatus.allCases
        )
    }
}

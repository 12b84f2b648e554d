// Shows: the call of the Objective-C wrapper AKNetPackegeAFN, under its old names, against a pinned server.
//
//   AKStyle              talks to a server of its own, whose self-signed certificate is made on the spot
//   AKStyle URL [NAME]   gets that URL; NAME is a certificate's file in the folder Certificates
import Dispatch
import Glibc
import NetManager
import Synchronization
import TestPKI
import TestServer

@main
struct AKStyle {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count > 1 {
            let outcome = call(
                .get,
                signature: arguments.dropFirst(2).first,
                api: arguments[1],
                parameters: nil
            )
            print(outcome)
            exit(outcome.hasPrefix("Json") ? 0 : 1)
        }

        let folder = FileManager.default.temporaryDirectory.path + "/Certificates-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let options = CertificateOptions.server("localhost").with { $0.subject.commonName = "AKStyle" }
        let identity = try Identity.selfSigned(options)
        try identity.certificate.writeDER(to: folder + "/server.cer")
        let server = try TestServer(tls: TLSOptions(identity: identity)) { request in
            .json(#"{"method": "\#(request.method)"}"#)
        }
        defer { server.stop() }
        // Without this line the certificate is looked for in Certificates, beside the program.
        HTTPSessionManager.shared.configuration.certificateDirectories = [folder]

        let expected = [#"Json: {"method":"GET"}"#, #"Json: {"method":"POST"}"#, "the server is not trusted"]
        let outcomes = [
            call(.get, signature: "server", api: server.url(), parameters: ["a": 1]),
            call(.post, signature: "server", api: server.url(), parameters: ["a": 1]),
            call(.get, signature: nil, api: server.url(), parameters: ["a": 1]),
        ]
        for outcome in outcomes { print(outcome) }
        guard zip(outcomes, expected).allSatisfy({ $0.contains($1) }) else { exit(1) }
    }

    /// Makes the wrapper's call and waits for it, as a program for the command line does.
    static func call(
        _ type: AKNetWorkType,
        signature: String?,
        api: String,
        parameters: JSONValue?
    ) -> String {
        let outcome = Mutex("")
        let done = DispatchSemaphore(value: 0)
        AKNetPackegeAFN.shareHttpManager().netWorkType(
            type,
            signature: signature,
            api: api,
            parameters: parameters,
            success: { json in
                outcome.withLock { $0 = "Json: \(json)" }
                done.signal()
            },
            fail: { error in
                outcome.withLock { $0 = "Error: \(error)" }
                done.signal()
            }
        )
        done.wait()
        return outcome.withLock { $0 }
    }
}

// Shows: GET and POST through the shared manager, with closures and with await, under a certificate pinned by its
// name; what a wrong pin and a server that nobody vouches for lead to.
//
//   QuickStart              talks to a server of its own, whose self-signed certificate is made on the spot
//   QuickStart URL [NAME]   gets that URL; NAME is a certificate's file in the folder Certificates
import Glibc
import NetManager
import TestPKI
import TestServer

@main
struct QuickStart {
    static let manager = HTTPSessionManager.shared

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count > 1 {
            var options = RequestOptions()
            options.signature = arguments.dropFirst(2).first
            do {
                return print(try await manager.get(arguments[1], options: options, as: .string))
            } catch {
                print(error)
                exit(1)
            }
        }

        // A folder with the server's own certificate, and one of somebody else.
        let folder = FileManager.default.temporaryDirectory.path + "/Certificates-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let options = CertificateOptions.server("localhost").with { $0.subject.commonName = "QuickStart" }
        let identity = try Identity.selfSigned(options)
        try identity.certificate.writeDER(to: folder + "/server.cer")
        try Identity.selfSigned(options).certificate.writeDER(to: folder + "/other.cer")
        manager.configuration.certificateDirectories = [folder]
        let server = try TestServer(tls: TLSOptions(identity: identity)) { request in
            .json(#"{"method": "\#(request.method)", "sent": "\#(request.query ?? request.text)"}"#)
        }
        let (url, key) = (server.url("/users"), try identity.certificate.publicKeySHA256)
        let got = await withCheckedContinuation { continuation in
            manager.get(url, parameters: ["page": 1], options: .signature("server")) { _, json in
                continuation.resume(returning: json)
            } failure: { _, error in
                continuation.resume(returning: .string("\(error)"))
            }
        }
        report("GET, pinned", "\(got)", got == ["method": "GET", "sent": "page=1"])

        let posted = try await manager.post(url, parameters: ["name": "Ada"], options: .signature("server"))
        report("POST, pinned", "\(posted)", posted == ["method": "POST", "sent": "name=Ada"])

        let mismatch = await refusal(of: url, .signature("other"))
        report("GET, wrong pin", "\(mismatch, default: "was answered")", mismatch != nil)
        guard case .untrustedServer(.pinMismatch(let presented, let pinned)) = mismatch?.kind else {
            return report("  kind", "no mismatch of pins", false)
        }
        report("  presented", "\(presented)", presented.map(\.digest) == [key])
        report("  expected", "\(pinned)", pinned.count == 1 && pinned != presented)

        let untrusted = await refusal(of: url, RequestOptions())
        var isUntrusted = false
        if case .untrustedServer(.untrusted) = untrusted?.kind { isUntrusted = true }
        report("GET, no signature", "\(untrusted, default: "was answered")", isUntrusted)
        report("requests that the server saw", "\(server.requests.count)", server.requests.count == 2)
        server.stop()
        try FileManager.default.removeItem(atPath: folder)
    }

    static func refusal(of url: String, _ options: RequestOptions) async -> RequestError? {
        do { _ = try await manager.get(url, options: options) } catch { return error as? RequestError }
        return nil
    }

    /// Prints an outcome, and ends the program if it is not the one that must come out.
    static func report(_ what: String, _ outcome: String, _ isRight: Bool) {
        print("\(what): \(outcome)")
        if !isRight { exit(1) }
    }
}

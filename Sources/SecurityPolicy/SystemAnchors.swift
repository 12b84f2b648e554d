import COpenSSL
import FoundationEssentials

/// The certificate authorities that this machine trusts.
///
/// They are read when they are first needed, once per process: a changed bundle counts after a restart.
package struct SystemAnchors: Sendable {
    /// Every certificate that was found; empty on a machine without any.
    package let certificates: [Certificate]
    /// The files and directories that were read, for messages.
    package let sources: [String]

    /// What `SSL_CERT_FILE` and `SSL_CERT_DIR` name, or else the system's own list.
    static let shared = SystemAnchors(environment: ProcessInfo.processInfo.environment)

    /// The lists of Debian, Fedora, openSUSE, Alpine and OpenSSL itself.
    private static let wellKnownFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// Reads the anchors.
    ///
    /// If either variable is set, only what they name is read, so that whoever sets one knows what is trusted.
    /// `SSL_CERT_DIR` is a list separated by colons. An entry that is no certificate is passed over: it cannot
    /// make anything trusted.
    package init(environment: [String: String]) {
        let file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        let directories = (environment["SSL_CERT_DIR"] ?? "").split(separator: ":").map(String.init)
        var found: [Certificate] = []
        var sources: [String] = []
        if file != nil || !directories.isEmpty {
            for path in [file].compactMap({ $0 }) {
                sources.append(path)
                found += SystemAnchors.file(path)
            }
            for directory in directories {
                sources.append(directory)
                found += SystemAnchors.directory(directory)
            }
        } else {
            let openSSLFile = X509_get_default_cert_file().map { String(cString: $0) }
            for path in SystemAnchors.wellKnownFiles + [openSSLFile].compactMap({ $0 }) where found.isEmpty {
                sources.append(path)
                found = SystemAnchors.file(path)
            }
            if found.isEmpty, let directory = X509_get_default_cert_dir() {
                sources.append(String(cString: directory))
                found = SystemAnchors.directory(String(cString: directory))
            }
        }
        var seen: Set<Certificate> = []
        certificates = found.filter { seen.insert($0).inserted }
        self.sources = sources
    }

    private static func file(_ path: String) -> [Certificate] {
        guard let data = try? Certificate.contents(of: path) else { return [] }
        if let all = try? Certificate.certificates(in: data) { return all }
        return CertificateReader.readable(in: data)
    }

    private static func directory(_ path: String) -> [Certificate] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        // Debian's directory holds each certificate twice, by name and as HASH.0, and all of them in a .crt.
        return names.sorted().flatMap { file("\(path)/\($0)") }
    }
}

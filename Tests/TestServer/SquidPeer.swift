import FoundationEssentials
import Glibc
package import TestPKI

/// A real proxy, squid, on 127.0.0.1: over HTTP and over HTTPS, for one user with a password, which may be
/// proven with Digest.
///
/// `scripts/test` installs it; tests that need it are `.enabled(if: SquidPeer.isInstalled)`. It ends with the
/// object, and with the process of the tests however that ends.
package final class SquidPeer: Sendable {
    /// Whether there is a squid to start, with TLS.
    package static var isInstalled: Bool { executable != nil && helper != nil && digestHelper != nil }

    /// The port of the proxy over HTTP.
    package var port: Int { plain.number }
    /// The port of the proxy over HTTPS.
    package var securePort: Int { secure.number }
    /// Who may use it.
    package static let user = (name: "ada", password: "s3cret")

    private let plain: ReservedPort
    private let secure: ReservedPort
    private let directory: String
    private let service: String
    private let process: LifelineProcess

    /// Starts it with what the proxy over HTTPS presents, and waits until it listens.
    package init(_ identity: Identity) throws {
        guard let executable = Self.executable, let helper = Self.helper, let digest = Self.digestHelper
        else {
            throw ServerError("squid is not installed")
        }
        (plain, secure) = (try ReservedPort(), try ReservedPort())
        directory = try temporaryDirectory("squid")
        // Names its shared memory, which two of them must not share.
        service = directory.filter { $0.isLetter || $0.isNumber }.suffix(12).description
        do {
            let files = try identity.writePEM(to: directory)
            // The apr1 hash of the password, as openssl passwd writes it.
            try Self.write("\(Self.user.name):$apr1$peers$nF/b3OcHkTNNpN2A4TuS1.\n", to: directory + "/users")
            try Self.write("\(Self.user.name):\(Self.user.password)\n", to: directory + "/passwords")
            try Self.write(
                Self.configuration(directory, files, (helper, digest), plain.number, secure.number),
                to: directory + "/squid.conf"
            )
            // As root it changes to a user of its own, who must be able to read and write here.
            if geteuid() == 0, let user = getpwnam("proxy") {
                let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                for name in [""] + names {
                    chown(directory + "/" + name, user.pointee.pw_uid, user.pointee.pw_gid)
                }
            }
            process = try LifelineProcess(
                watched: executable,
                ["-N", "-n", service, "-f", directory + "/squid.conf"]
            )
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        guard plain.isAnswered(), secure.isAnswered() else {
            let words = try? String(contentsOfFile: directory + "/cache.log", encoding: .utf8)
            throw ServerError("squid did not start: \(words ?? "")")
        }
    }

    deinit {
        process.end()
        try? FileManager.default.removeItem(atPath: directory)
        // What it would remove itself if it were not killed.
        let shared = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        for name in shared where name.hasPrefix(service + "-") { unlink("/dev/shm/" + name) }
    }

    /// What it did so far: a line for each request, with its status, method, target and user.
    package var log: [String] {
        let text = try? String(contentsOfFile: directory + "/access.log", encoding: .utf8)
        // Whoever looks whether it is up ends without a request.
        return (text ?? "").split(separator: "\n").map(String.init).filter { !$0.contains("error:") }
    }

    /// Reads the log until it has so many lines, or for a time that is long for it.
    ///
    /// A line is written after its answer, so that the client may be faster.
    ///
    /// - Parameter count: So many lines at least.
    /// - Returns: The lines that are there in the end.
    package func log(of count: Int) async -> [String] {
        let deadline = ContinuousClock.now + .seconds(20)
        while log.count < count, ContinuousClock.now < deadline {
            // There is no event to wait for.
            try? await Task.sleep(for: .milliseconds(10))
        }
        return log
    }

    private static let executable = program("/usr/sbin/squid")
    private static let helper = program("/usr/lib/squid/basic_ncsa_auth")
    private static let digestHelper = program("/usr/lib/squid/digest_file_auth")

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private static func configuration(
        _ directory: String,
        _ files: Identity.Files,
        _ helpers: (basic: String, digest: String),
        _ port: Int,
        _ securePort: Int
    ) -> String {
        """
        http_port 127.0.0.1:\(port)
        https_port 127.0.0.1:\(securePort) tls-cert=\(files.chain) tls-key=\(files.key)
        visible_hostname localhost
        cache deny all
        netdb_filename none
        logformat tests %>Hs %rm %ru %un
        access_log stdio:\(directory)/access.log logformat=tests
        buffered_logs off
        cache_log \(directory)/cache.log
        coredump_dir \(directory)
        pid_filename none
        shutdown_lifetime 0 seconds
        auth_param digest program \(helpers.digest) \(directory)/passwords
        auth_param digest children 1
        auth_param digest realm tests
        auth_param digest check_nonce_count on
        auth_param basic program \(helpers.basic) \(directory)/users
        auth_param basic children 1
        acl known proxy_auth REQUIRED
        http_access allow known
        http_access deny all

        """
    }
}

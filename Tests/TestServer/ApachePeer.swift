import FoundationEssentials
import Glibc
package import TestPKI

/// A real Apache on 127.0.0.1, over HTTP and over HTTPS, that lets users of a Kerberos realm pass to a server of a test.
///
/// As IIS does, it asks once on each connection, and takes every request on it for that user's from then on
/// (`GssapiConnectionBound`). The server behind it gets the fields `X-User`, empty for nobody, `X-Connection` with the
/// client's port, and `X-Protocol`; a refusal has `X-Connection`, too. All but `/open/` is for users only. It is a proxy
/// over HTTP for those users, too, to any server.
///
/// `scripts/test` installs it; tests that need it are `.enabled(if: ApachePeer.isInstalled)`. It ends with the object,
/// and with the process of the tests however that ends.
package final class ApachePeer: Sendable {
    /// Whether there is an Apache to start, and its module for Kerberos.
    package static var isInstalled: Bool {
        executable != nil && access(modules + "/mod_auth_gssapi.so", R_OK) == 0
    }

    private let plain: ReservedPort
    private let secure: ReservedPort
    private let proxy: ReservedPort
    /// The port of the proxy.
    package var proxyPort: Int { proxy.number }
    private let directory: String
    private let process: LifelineProcess

    /// Starts it and waits until it listens; blocks the thread.
    ///
    /// - Parameters:
    ///   - identity: What it presents.
    ///   - realm: Whose users it lets pass.
    ///   - server: The port behind it, which speaks HTTP/1.1 without TLS.
    /// - Throws: ``ServerError`` when it does not start.
    package init(_ identity: Identity, for realm: KerberosPeer, before server: Int) throws {
        guard let executable = Self.executable else { throw ServerError("Apache is not installed") }
        (plain, secure, proxy) = (try ReservedPort(), try ReservedPort(), try ReservedPort())
        directory = try temporaryDirectory("apache")
        do {
            let files = try identity.writePEM(to: directory)
            // Copies, which may be given away.
            try FileManager.default.copyItem(atPath: realm.keytab, toPath: directory + "/keytab")
            try FileManager.default.copyItem(atPath: realm.configuration, toPath: directory + "/krb5.conf")
            let text = Self.configuration(
                directory,
                files,
                [plain, secure, proxy].map(\.number),
                before: server
            )
            try Data(text.utf8).write(to: URL(filePath: directory + "/httpd.conf"))
            // As root it changes to a user of its own, who must be able to read and write here.
            if geteuid() == 0, let user = getpwnam(Self.user) {
                let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                for name in [""] + names {
                    chown(directory + "/" + name, user.pointee.pw_uid, user.pointee.pw_gid)
                }
            }
            process = try LifelineProcess(
                watched: executable,
                // In one process, which is the one that is ended.
                ["-X", "-d", directory, "-f", directory + "/httpd.conf"],
                // What it has seen is kept here, and not where every service of the machine keeps it.
                environment: [
                    "KRB5_CONFIG=\(directory)/krb5.conf", "KRB5RCACHENAME=file2:\(directory)/replays",
                ]
            )
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        guard plain.isAnswered(), secure.isAnswered(), proxy.isAnswered() else {
            let words = try? String(contentsOfFile: directory + "/error.log", encoding: .utf8)
            throw ServerError("Apache did not start: \(words ?? "")")
        }
    }

    deinit {
        process.end()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A URL of the peer: `http://localhost:PORT/path`, or `https`.
    package func url(_ target: String = "/", host: String = "localhost", isSecure: Bool = false) -> String {
        "\(isSecure ? "https" : "http")://\(host):\(isSecure ? secure.number : plain.number)\(target)"
    }

    private static let executable = program("/usr/sbin/apache2")
    private static let modules = "/usr/lib/apache2/modules"
    private static let user = "www-data"

    private static func configuration(
        _ directory: String,
        _ files: Identity.Files,
        _ ports: [Int],
        before server: Int
    ) -> String {
        let names = [
            "mpm_event", "authn_core", "authz_core", "authz_user", "auth_gssapi", "headers", "http2", "proxy",
            "proxy_connect", "proxy_http", "ssl",
        ]
        let onlyUsers = """
            AuthType GSSAPI
            AuthName tests
            GssapiCredStore keytab:\(directory)/keytab
            GssapiAllowedMech krb5
            GssapiConnectionBound On
            Require valid-user
            """
        let site = """
            ProxyPass / http://127.0.0.1:\(server)/
            <Location />
            \(onlyUsers)
            </Location>
            <Location /open/>
            AuthType None
            Require all granted
            </Location>
            """
        return """
            \(names.map { "LoadModule \($0)_module \(modules)/mod_\($0).so" }.joined(separator: "\n"))
            User \(user)
            Group \(user)
            ServerName localhost
            \(ports.map { "Listen 127.0.0.1:\($0)" }.joined(separator: "\n"))
            PidFile \(directory)/httpd.pid
            DefaultRuntimeDir \(directory)
            Mutex file:\(directory)
            ErrorLog \(directory)/error.log
            ThreadsPerChild 32
            MaxRequestWorkers 32
            KeepAliveTimeout 60
            Header always set X-Connection expr=%{REMOTE_PORT}
            RequestHeader set X-User expr=%{REMOTE_USER}
            RequestHeader set X-Connection expr=%{REMOTE_PORT}
            RequestHeader set X-Protocol expr=%{SERVER_PROTOCOL}
            <VirtualHost 127.0.0.1:\(ports[0])>
                \(site)
            </VirtualHost>
            <VirtualHost 127.0.0.1:\(ports[1])>
                \(site)
                SSLEngine on
                SSLCertificateFile \(files.chain)
                SSLCertificateKeyFile \(files.key)
                Protocols h2 http/1.1
            </VirtualHost>
            <VirtualHost 127.0.0.1:\(ports[2])>
                ProxyRequests On
                AllowCONNECT 1-65535
                <Proxy *>
                    \(onlyUsers)
                </Proxy>
            </VirtualHost>

            """
    }
}

import ChildProcess
import FoundationEssentials
import Glibc

/// A real Kerberos realm, MIT's, on 127.0.0.1: its KDC, users with tickets, and the key of the service `HTTP/localhost`.
///
/// `scripts/test` installs it; tests that need it are `.enabled(if: KerberosPeer.isInstalled)`. All that it knows is in a
/// directory of its own. It ends with the object, and with the process of the tests however that ends.
package final class KerberosPeer: Sendable {
    /// Whether there is a KDC to start, and what makes its database.
    package static var isInstalled: Bool { programs != nil }

    /// The realm, which stands behind the names of its users.
    package static let realm = "TESTS.EXAMPLE"

    /// Where a service finds its key.
    let keytab: String
    /// What tells a program of the realm (krb5.conf).
    let configuration: String
    private let environment: [String]
    private let directory: String
    private let port: ReservedPort
    /// Takes connections and says nothing.
    private let silence: ListeningSocket
    private let process: LifelineProcess

    /// Makes a realm, starts its KDC, and gets a ticket for each user.
    ///
    /// Blocks the thread.
    /// - Parameter users: Names without the realm.
    /// - Throws: What a program said that failed.
    package init(users: [String]) throws {
        guard let programs = Self.programs else { throw ServerError("Kerberos is not installed") }
        let port = try ReservedPort()
        self.port = port
        let silence = try ListeningSocket(.loopback)
        self.silence = silence
        let directory = try temporaryDirectory("kerberos")
        self.directory = directory
        configuration = directory + "/krb5.conf"
        let environment = ["KRB5_CONFIG=\(configuration)", "KRB5_KDC_PROFILE=\(directory)/kdc.conf"]
        self.environment = environment
        let keytab = directory + "/service.keytab"
        self.keytab = keytab
        do {
            try Self.write(Self.client(port.number), to: configuration)
            try Self.write(Self.client(silence.port), to: directory + "/silent.conf")
            try Self.write(Self.server(port.number, directory), to: directory + "/kdc.conf")
            func run(_ program: String, _ arguments: [String], _ more: [String] = []) throws {
                try ChildProcess.output(of: program, arguments, environment: environment + more)
            }
            let own = ["-r", Self.realm]
            // With a key of its own in a file, so that nobody is asked for a password.
            try run(programs.database, own + ["create", "-s", "-P", "master"])
            try run(programs.administration, own + ["addprinc", "-randkey", "HTTP/localhost"])
            try run(programs.administration, own + ["ktadd", "-k", keytab, "HTTP/localhost"])
            for user in users {
                try run(programs.administration, own + ["addprinc", "-randkey", user])
                try run(programs.administration, own + ["ktadd", "-k", "\(directory)/\(user).keytab", user])
            }
            process = try LifelineProcess(watched: programs.center, ["-n"], environment: environment)
            guard port.isAnswered() else { throw ServerError("the KDC did not start") }
            for user in users {
                try run(
                    programs.login,
                    ["-k", "-t", "\(directory)/\(user).keytab", user],
                    [Self.cache(of: user, in: directory)]
                )
            }
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
    }

    deinit {
        process.end()
        silence.end()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The environment of a program that has the tickets of a user; nil for the one that has none.
    package func environment(of user: String?) -> [String] {
        environment + [Self.cache(of: user ?? "nobody", in: directory)]
    }

    /// The environment of a program that has logged in as a user, and gets no further answer from the KDC.
    package func silentEnvironment(of user: String) -> [String] {
        ["KRB5_CONFIG=\(directory)/silent.conf", Self.cache(of: user, in: directory)]
    }

    /// How often the KDC that gives no answer was asked since somebody looked.
    package var unansweredQuestions: Int {
        var pending = pollfd(fd: silence.descriptor, events: Int16(POLLIN), revents: 0)
        var count = 0
        while poll(&pending, 1, 0) == 1 {
            let connection = accept(silence.descriptor, nil, nil)
            guard connection >= 0 else { break }
            close(connection)
            count += 1
        }
        return count
    }

    private static func cache(of user: String, in directory: String) -> String {
        "KRB5CCNAME=FILE:\(directory)/\(user).tickets"
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// Names are taken as they are: what a resolver makes of `localhost` depends on the machine.
    private static func client(_ port: Int) -> String {
        """
        [libdefaults]
            default_realm = \(realm)
            dns_lookup_kdc = false
            dns_lookup_realm = false
            dns_canonicalize_hostname = false
            rdns = false
            udp_preference_limit = 1
        [realms]
            \(realm) = {
                kdc = 127.0.0.1:\(port)
            }

        """
    }

    private static func server(_ port: Int, _ directory: String) -> String {
        """
        [kdcdefaults]
            kdc_listen = ""
            kdc_tcp_listen = 127.0.0.1:\(port)
        [realms]
            \(realm) = {
                database_name = \(directory)/principal
                key_stash_file = \(directory)/stash
                acl_file = \(directory)/acl
            }
        [logging]
            kdc = FILE:\(directory)/kdc.log

        """
    }

    private struct Programs {
        var database: String
        var administration: String
        var center: String
        var login: String
    }

    private static let programs: Programs? = {
        guard let database = program("/usr/sbin/kdb5_util"),
            let administration = program("/usr/sbin/kadmin.local"),
            let center = program("/usr/sbin/krb5kdc"), let login = program("/usr/bin/kinit")
        else { return nil }
        return Programs(database: database, administration: administration, center: center, login: login)
    }()
}

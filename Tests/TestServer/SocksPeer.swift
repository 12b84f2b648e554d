/// A real SOCKS 5 proxy, microsocks, on 127.0.0.1, for one user with a password.
///
/// `scripts/test` installs it; tests that need it are `.enabled(if: SocksPeer.isInstalled)`. It ends with the
/// object, and with the process of the tests however that ends.
package final class SocksPeer: Sendable {
    /// Whether there is a microsocks to start.
    package static var isInstalled: Bool { executable != nil }

    /// The port.
    package var port: Int { reserved.number }
    /// Who may use it.
    package static let user = (name: "ada", password: "s3cret")

    private let reserved: ReservedPort
    private let process: LifelineProcess

    /// Starts it and waits until it listens.
    package init() throws {
        guard let executable = Self.executable else { throw ServerError("microsocks is not installed") }
        reserved = try ReservedPort()
        process = try LifelineProcess(
            watched: executable,
            [
                "-i", "127.0.0.1", "-p", "\(reserved.number)", "-u", Self.user.name, "-P",
                Self.user.password,
            ]
        )
        guard reserved.isAnswered() else { throw ServerError("microsocks did not start") }
    }

    deinit { process.end() }

    private static let executable = program("/usr/bin/microsocks")
}

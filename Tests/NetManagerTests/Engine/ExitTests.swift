import ChildProcess
import Foundation
import TestPKI
import TestServer
import Testing

@Suite struct ExitTests {
    /// How often each kind exits: a crash showed in 110 of 150 exits of a program that took no care.
    ///
    /// Fifty miss one that is ten times as rare in one run of 45. Each takes a sanitizer half a second; fifteen let none
    /// pass that is as frequent as that one.
    private static let exits = isSanitized ? 15 : 50

    @Test(arguments: [false, true])
    func `a process may exit while transfers run`(openSSLComesFirst: Bool) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "netmanager-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let identity = try Identity.selfSigned(
            .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
        )
        let certificate = directory.appending(path: "server.der").path
        try identity.certificateDER.write(to: URL(filePath: certificate))
        let options = ServerOptions().with { $0.recordsRequests = false }
        let server = try TestServer(tls: TLSOptions(identity: identity), options: options) { _ in .text("x") }
        let probe = try #require(ChildProcess.built("ExitProbe"))
        for number in 0..<Self.exits {
            let process = try ChildProcess(
                probe,
                [server.url()] + (openSSLComesFirst ? [certificate] : []),
                environment: Self.environment
            )
            let exit = await process.exit()
            guard exit == .status(0) else {
                Issue.record("exit \(number): \(exit)")
                return
            }
        }
    }

    @Test func `a transport that finds no descriptor fails each request and recovers`() async throws {
        let server = try TestServer { _ in .text("x") }
        // In a process of its own: here other tests need descriptors.
        let probe = try #require(ChildProcess.built("ExitProbe"))
        var exit: ChildProcess.Exit
        var attempts = 0
        repeat {
            attempts += 1
            let arguments = [server.url(), "descriptors"]
            exit = try await ChildProcess(probe, arguments, environment: Self.environment).exit()
            // libdispatch cannot be without descriptors at every moment, and says so by this (DescriptorProbe).
        } while exit == .status(77) && attempts < 20
        #expect(exit == .status(0))
    }

    @Test func `a name that is never resolved holds up neither its own request nor any other`() async throws {
        let server = try TestServer { _ in .text("x") }
        let probe = try #require(ChildProcess.built("ExitProbe"))
        let child = try ChildProcess(probe, [server.url(), "resolver"], environment: Self.environment)
        #expect(await child.exit() == .status(0))
    }

    @Test
    func `look-ups that nobody waits for are bounded, and requests that need one wait for their turn`()
        async throws
    {
        let server = try TestServer { _ in .text("x") }
        let probe = try #require(ChildProcess.built("ExitProbe"))
        let child = try ChildProcess(probe, [server.url(), "silence"], environment: Self.environment)
        // The number says what went wrong (ResolverProbe).
        #expect(await child.exit() == .status(0))
    }

    @Test
    func `a forked child ends at once, a transport of its parent's refuses there, and one of its own works`()
        async throws
    {
        let server = try TestServer { _ in .text("x") }
        let probe = try #require(ChildProcess.built("ExitProbe"))
        let child = try ChildProcess(probe, [server.url(), "fork"], environment: Self.environment)
        // The number says what went wrong (ForkProbe).
        #expect(await child.exit() == .status(0))
    }

    /// The backtracer of a crashed child may hang for minutes; the thread sanitizer sleeps for a second at exit, and ends
    /// children that begin threads unless it is told not to; and the address sanitizer takes what transfers hold that exit
    /// cuts off for leaks.
    private static let environment = [
        "SWIFT_BACKTRACE=enable=no", "TSAN_OPTIONS=atexit_sleep_ms=0:die_after_fork=0",
        "ASAN_OPTIONS=detect_leaks=0",
    ]
}

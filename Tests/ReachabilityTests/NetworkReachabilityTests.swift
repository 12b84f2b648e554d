import ChildProcess
import Dispatch
import Foundation
import Glibc
import Locks
import Testing

@testable import Reachability

@Suite struct NetworkReachabilityTests {
    /// The interfaces of default routes as /proc/net/route has them.
    private static func interfaces() throws -> Set<String> {
        let text = try String(contentsOfFile: "/proc/net/route", encoding: .utf8)
        var found: Set<String> = []
        for line in text.split(separator: "\n").dropFirst() {
            let columns = line.split(whereSeparator: \.isWhitespace)
            // Destination and mask are zero, and the flags say that the route is up and no rejection.
            guard columns.count > 7, columns[1] == "00000000", columns[7] == "00000000",
                let flags = Int(columns[3], radix: 16), flags & 0x201 == 0x1
            else { continue }
            found.insert(String(columns[0]))
        }
        return found
    }

    @Test func `this machine's ways are those of its routing table`() throws {
        let path = try NetworkReachabilityManager.currentPath()
        let known = try Self.interfaces()
        #expect(path.status != .unknown)
        #expect(!path.supportsIPv4 || !known.isDisjoint(with: path.interfaces))
        if path.status == .notReachable { #expect(path.interfaces.isEmpty) }
    }

    @Test func `the closure is told at once, and the sequence too`() async throws {
        let manager = NetworkReachabilityManager()
        #expect(manager.status == .unknown)
        let now = try NetworkReachabilityManager.currentPath()
        let told = await withCheckedContinuation { continuation in
            do {
                try manager.startMonitoring { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(returning: NetworkPath(status: .unknown))
            }
        }
        #expect(told == now)
        var iterator = try manager.changes().makeAsyncIterator()
        #expect(await iterator.next() == now)
        #expect(manager.path == now)
        manager.stopMonitoring()
        #expect(await iterator.next() == nil)
        #expect(manager.status == .unknown)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a manager that the kernel fails may be started again, and its readers go on`() async throws {
        let manager = NetworkReachabilityManager()
        var changes = try manager.changes().makeAsyncIterator()
        let now = try NetworkReachabilityManager.currentPath()
        #expect(await changes.next() == now)
        manager.publish(nil, by: try #require(manager.watched))
        #expect(await changes.next()?.status == .unknown)
        #expect(manager.status == .unknown)
        #expect(manager.watched == nil)
        let (told, teller) = AsyncStream<NetworkPath>.makeStream()
        try manager.startMonitoring { teller.yield($0) }
        #expect(await told.first { _ in true } == now)
        #expect(await changes.next() == now)
        manager.stopMonitoring()
    }

    @Test func `a manager that is dropped ends its sequences' watching`() async throws {
        var manager: NetworkReachabilityManager? = NetworkReachabilityManager()
        weak let dropped = manager
        let changes = try manager?.changes()
        manager = nil
        // Another thread may be about to publish, and then lets go of it last.
        while dropped != nil { await Task.yield() }
        if let changes { for await _ in changes {} }
    }

    @Test func `a manager may be started and stopped by many threads at a time`() async throws {
        let manager = NetworkReachabilityManager()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        if number.isMultiple(of: 2) {
                            try? manager.startMonitoring()
                        } else {
                            manager.stopMonitoring()
                        }
                    }
                }
            }
        }
        manager.stopMonitoring()
        #expect(manager.status == .unknown)
        let now = try NetworkReachabilityManager.currentPath()
        var changes = try manager.changes().makeAsyncIterator()
        #expect(await changes.next() == now)
    }

    /// Whether this process may make a network of its own; asked in a child, as a thread keeps what it has got.
    static let mayMakeNetworks: Bool = {
        let arguments = ["-n", "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"]
        guard let child = try? ChildProcess("unshare", arguments, isSilent: true) else { return false }
        return child.wait() == .status(0)
    }()

    @Test(.enabled(if: mayMakeNetworks), .timeLimit(.minutes(2)))
    func `in a network of its own, interfaces and routes that come and go are told`() async throws {
        let manager = NetworkReachabilityManager()
        // A command that fails ends the sequence, and the test with it.
        let thread = NetworkThread { manager.stopMonitoring() }
        let answers = try await thread.start { try manager.changes() }
        func run(_ line: String) { thread.run(line) }
        var iterator = answers.makeAsyncIterator()
        #expect(await iterator.next()?.status == .notReachable)

        run("ip link add v0 type veth peer name v1")
        run("ip link set v1 up")
        run("ip addr add 192.0.2.1/24 dev v0")
        run("ip link set v0 up")
        run("ip route add default via 192.0.2.2")
        let up = await iterator.next()
        #expect(up == NetworkPath(status: .reachable, interfaces: ["v0"], supportsIPv4: true))

        // The kernel says nothing of the routes that this removes.
        run("ip link set v0 down")
        #expect(await iterator.next()?.status == .notReachable)

        run("ip link set v0 up")
        run("ip -6 addr add 2001:db8::1/64 dev v0 nodad")
        run("ip -6 route add default via 2001:db8::2")
        #expect(
            await iterator.next()
                == NetworkPath(status: .reachable, interfaces: ["v0"], supportsIPv6: true)
        )

        run("ip link del v0")
        #expect(await iterator.next()?.status == .notReachable)
        manager.stopMonitoring()
        thread.end()
    }
}

/// A thread in a network of its own, which runs commands until it is told to end.
private final class NetworkThread: Sendable {
    private let lines = Guarded<[String]>([])
    private let wakeups = DispatchSemaphore(value: 0)
    private let onFailure: @Sendable () -> Void

    init(onFailure: @escaping @Sendable () -> Void) {
        self.onFailure = onFailure
    }

    /// Starts the thread and runs a closure on it.
    func start<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            // Not one of the threads that others run on: it keeps its network to its end.
            Thread {
                guard Self.takeOwnNetwork() else {
                    return continuation.resume(
                        throwing: ReachabilityTestError(description: "unshare: \(errno)")
                    )
                }
                continuation.resume(with: Swift.Result { try body() })
                self.runCommands()
            }.start()
        }
    }

    /// unshare(2), which the Glibc module does not show.
    private static func takeOwnNetwork() -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { return false }
        // CLONE_NEWNET
        return unsafeBitCast(symbol, to: Unshare.self)(0x4000_0000) == 0
    }

    /// Runs a command after those before it.
    func run(_ line: String) {
        lines.withLock { $0.append(line) }
        wakeups.signal()
    }

    /// Ends the thread after the commands before.
    func end() { run("") }

    private func runCommands() {
        while true {
            wakeups.wait()
            let words = lines.withLock { $0.removeFirst() }.split(separator: " ").map(String.init)
            guard let program = words.first else { return }
            do {
                try ChildProcess.output(of: program, Array(words.dropFirst()))
            } catch {
                Issue.record("\(error)")
                onFailure()
            }
        }
    }
}

private struct ReachabilityTestError: Error, CustomStringConvertible { var description: String }

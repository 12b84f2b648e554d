import CLinux
import FoundationEssentials
import Glibc
import Testing

@testable import NetManager

@Suite struct SelectorTests {
    /// A selector, and two sockets that are connected.
    private final class Fixture {
        let selector: Selector
        let near: Int32
        let far: Int32
        let epoll: Int32
        private let wake: Int32

        init() throws {
            wake = eventfd(0, Int32(EFD_CLOEXEC))
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            selector = Selector(epoll: epoll, wakeDescriptor: wake)
            var ends: [Int32] = [0, 0]
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
            (near, far) = (ends[0], ends[1])
            selector.adopt(near, isLayered: false)
        }

        deinit {
            for descriptor in [near, far, wake] { close(descriptor) }
            selector.close()
        }

        /// What happened, as short words.
        func happened() -> [String] {
            // What was there before must not be told again.
            var events = [Selector.Event(descriptor: -1, readable: true, writable: true, failed: true)]
            selector.wait(milliseconds: 0, &events)
            return events.map { event in
                #expect(event.descriptor == near)
                return (event.readable ? "r" : "") + (event.writable ? "w" : "") + (event.failed ? "f" : "")
            }
        }

        /// Whether epoll was told of the near socket.
        var isRegistered: Bool {
            get throws {
                // "tfd:", the descriptor, "events:" and more, a line for each (proc_pid_fdinfo(5)).
                let lines = try String(contentsOfFile: "/proc/self/fdinfo/\(epoll)", encoding: .utf8)
                return lines.split(separator: "\n").contains { line in
                    line.split(separator: " ").dropFirst().first.map(String.init) == "\(near)"
                }
            }
        }

        func hold() throws { selector.hold(try #require(selector.watched(near))) }
        func release() throws { selector.release(try #require(selector.watched(near))) }
        func send() throws { try #require(write(far, "x", 1) == 1) }
    }

    @Test func `what comes on a socket that is held is not told until it is released`() throws {
        let fixture = try Fixture()
        fixture.selector.watch(fixture.near, for: .read)
        try fixture.send()
        #expect(fixture.happened() == ["r"])
        try fixture.hold()
        for _ in 0..<2 { #expect(fixture.happened() == []) }
        // libcurl may ask for it meanwhile.
        fixture.selector.watch(fixture.near, for: .read)
        #expect(fixture.happened() == [])
        try fixture.release()
        for _ in 0..<2 { #expect(fixture.happened() == ["r"]) }
    }

    @Test func `epoll is told what changed when the thread is about to wait, and not before`() throws {
        let fixture = try Fixture()
        fixture.selector.watch(fixture.near, for: .read)
        #expect(try !fixture.isRegistered)
        #expect(fixture.happened() == [])
        #expect(try fixture.isRegistered)
        try fixture.hold()
        #expect(try fixture.isRegistered)
        try fixture.send()
        #expect(fixture.happened() == [])
        #expect(try !fixture.isRegistered)
        // As a reader does that keeps up: what it takes lets libcurl read, and fills it again.
        try fixture.release()
        try fixture.hold()
        #expect(fixture.happened() == [])
        #expect(try !fixture.isRegistered)
        try fixture.release()
        #expect(fixture.happened() == ["r"])
        #expect(try fixture.isRegistered)
    }

    @Test func `a descriptor that libcurl opened and closed between two waits is never watched`() throws {
        let fixture = try Fixture()
        fixture.selector.forget(fixture.near)
        fixture.selector.watch(fixture.near, for: .read)
        fixture.selector.ignore(fixture.near)
        try fixture.send()
        #expect(fixture.happened() == [])
        #expect(try !fixture.isRegistered)
        fixture.selector.watch(fixture.near, for: .read)
        #expect(fixture.happened() == ["r"])
        fixture.selector.ignore(fixture.near)
        #expect(try !fixture.isRegistered)
    }

    @Test func `nothing is told of a closed socket of which a program that begins has a copy`() throws {
        let fixture = try Fixture()
        fixture.selector.watch(fixture.near, for: .read)
        let copy = dup(fixture.near)
        defer { close(copy) }
        try fixture.send()
        #expect(fixture.happened() == ["r"])
        fixture.selector.forget(fixture.near)
        // Its number leads to another file from here on.
        try #require(dup2(fixture.far, fixture.near) == fixture.near)
        var event = epoll_event()
        #expect(epoll_wait(fixture.epoll, &event, 1, 0) == 0)
    }

    @Test func `a socket that is held may be written`() throws {
        let fixture = try Fixture()
        fixture.selector.watch(fixture.near, for: [.read, .write])
        try fixture.send()
        try fixture.hold()
        #expect(fixture.happened() == ["w"])
        try fixture.release()
        #expect(fixture.happened() == ["rw"])
    }

    @Test func `the end of a connection that is held is told when it is released, and wakes nobody before`()
        throws
    {
        let fixture = try Fixture()
        fixture.selector.watch(fixture.near, for: .read)
        try fixture.hold()
        shutdown(fixture.far, Int32(SHUT_RDWR))
        for _ in 0..<2 { #expect(fixture.happened() == []) }
        try fixture.release()
        #expect(fixture.happened() == ["r"])
    }

    @Test func `a socket that libcurl lets go of is held no longer`() throws {
        let fixture = try Fixture()
        fixture.selector.watch(fixture.near, for: .read)
        try fixture.hold()
        fixture.selector.ignore(fixture.near)
        try fixture.send()
        #expect(fixture.happened() == [])
        fixture.selector.watch(fixture.near, for: .read)
        #expect(fixture.happened() == ["r"])
    }

    @Test func `a pause that speaks of a closed socket leaves the next one of its number alone`() throws {
        let fixture = try Fixture()
        fixture.selector.watch(fixture.near, for: .read)
        let old = try #require(fixture.selector.watched(fixture.near))
        fixture.selector.hold(old)
        fixture.selector.forget(fixture.near)
        // Another socket, as far as libcurl and the selector know.
        fixture.selector.adopt(fixture.near)
        fixture.selector.watch(fixture.near, for: .read)
        fixture.selector.hold(old)
        try fixture.send()
        #expect(fixture.happened() == ["r"])
        try fixture.hold()
        fixture.selector.release(old)
        #expect(fixture.happened() == [])
    }
}

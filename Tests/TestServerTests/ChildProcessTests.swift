import ChildProcess
import Glibc
import Testing

struct ChildProcessTests {
    @Test func `how a program ended is told to everybody who asks, and asked after its end`() async throws {
        let process = try ChildProcess("sh", ["-c", "exit 3"])
        async let one = process.exit()
        async let other = process.exit()
        let exits = await [one, other]
        #expect(exits == [.status(3), .status(3)])
        // Its number may be somebody else's by now.
        process.end(by: SIGKILL)
        #expect(await process.exit() == .status(3))
    }

    @Test(arguments: 0..<20)
    func `a program that is waited for can be ended`(_: Int) async throws {
        let process = try ChildProcess("sleep", ["1000"])
        async let exit = process.exit()
        process.end(by: SIGKILL)
        #expect(await exit == .signal(SIGKILL))
        #expect(process.wait() == .signal(SIGKILL))
    }
}

import Dispatch
import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Writes down which events a call had.
private final class PauseMonitor: EventMonitor {
    let events = Shared<[String]>([])
    let suspended = Latch()
    let ended = Latch()

    func callStarted(_ call: MonitoredCall) { events.withLock { $0.append("started") } }
    func callSuspended(_ call: MonitoredCall) {
        events.withLock { $0.append("suspended") }
        suspended.open()
    }
    func callResumed(_ call: MonitoredCall) { events.withLock { $0.append("resumed") } }
    func callEnded(_ end: CallEnd, of call: MonitoredCall) {
        events.withLock { $0.append("ended") }
        ended.open()
    }
}

@Suite struct SuspendTests {
    private let transport = CurlTransport()

    private func manager(_ configure: (inout HTTPSessionManager.Configuration) -> Void = { _ in })
        -> HTTPSessionManager
    {
        HTTPSessionManager(transport, configure: configure)
    }

    @Test func `a call that starts suspended sends nothing before it is resumed`() async throws {
        let server = try TestServer { _ in .json("{}") }
        var options = RequestOptions()
        options.startsSuspended = true
        let tasks = Shared<[RequestTask]>([])
        let ended = Task { [options] in
            await outcome { success, failure in
                let task = manager().get(server.url(), options: options, success: success, failure: failure)
                #expect(task.state == .suspended)
                tasks.withLock { $0.append(task) }
            }
        }
        // A request that is made later has come and gone.
        while tasks.value.isEmpty { await Task.yield() }
        _ = try await transport.fetch(server.url("/other"))
        #expect(server.requests.map(\.path) == ["/other"])
        let task = try #require(tasks.value.first)
        task.resume()
        #expect(await ended.value.value == [:])
        #expect(task.state == .completed)
        #expect(server.requests.map(\.path) == ["/other", "/"])
    }

    @Test func `cases 520 and 521: suspending and resuming are told once each`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .json("{}").after(gate) }
        let monitor = PauseMonitor()
        let manager = manager { $0.eventMonitors = [monitor] }
        let result: Outcome<JSONValue> = await outcome { success, failure in
            let task = manager.get(server.url(), success: success, failure: failure)
            Task {
                task.resume()
                await gate.reached()
                for _ in 0..<2 { task.suspend() }
                #expect(task.state == .suspended)
                for _ in 0..<2 { task.resume() }
                #expect(task.state == .running)
                gate.open()
            }
        }
        #expect(result.value == [:])
        await monitor.ended.wait()
        #expect(monitor.events.value == ["started", "suspended", "resumed", "ended"])
    }

    @Test func `a call that starts suspended is told so before it is resumed`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let monitor = PauseMonitor()
        let manager = manager { $0.eventMonitors = [monitor] }
        var options = RequestOptions()
        options.startsSuspended = true
        let result: Outcome<JSONValue> = await outcome { [options] success, failure in
            let task = manager.get(server.url(), options: options, success: success, failure: failure)
            Task {
                await monitor.suspended.wait()
                task.resume()
            }
        }
        #expect(result.value == [:])
        await monitor.ended.wait()
        #expect(monitor.events.value == ["started", "suspended", "resumed", "ended"])
    }

    @Test func `a suspended download receives nothing, and goes on where it stopped`() async throws {
        let size = 32 << 20
        let server = try TestServer { _ in .bytes(size) }
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        let begun = Latch()
        let result: Outcome<DownloadedFile> = await outcome { success, failure in
            let task = manager().download(
                server.url(),
                to: path,
                success: success,
                failure: failure,
                progress: { if $0.completed > 0 { begun.open() } }
            )
            Task {
                await begun.wait()
                task.suspend()
                // A whole other request, twice, is time enough for what was under way to arrive.
                for _ in 0..<2 { _ = try await transport.fetch(server.url("/other")) }
                let before = task.progress.completed
                for _ in 0..<2 { _ = try await transport.fetch(server.url("/other")) }
                #expect(task.progress.completed == before)
                task.resume()
            }
        }
        #expect(result.value?.size == Int64(size))
    }

    @Test func `a suspended upload sends nothing, and goes on where it stopped`() async throws {
        let server = try TestServer { .json("{\"length\":\($0.bodyLength)}") }
        let size = 64 << 20
        let begun = Latch()
        let result: Outcome<JSONValue> = await outcome { success, failure in
            let task = manager().upload(
                server.url(),
                from: .data(Data(count: size)),
                success: success,
                failure: failure,
                progress: { if $0.direction == .upload, $0.completed > 0 { begun.open() } }
            )
            Task {
                await begun.wait()
                task.suspend()
                for _ in 0..<2 { _ = try await transport.fetch(server.url("/other")) }
                let before = task.progress
                for _ in 0..<2 { _ = try await transport.fetch(server.url("/other")) }
                #expect(task.progress == before)
                task.resume()
            }
        }
        #expect(result.value?["length"]?.int == size)
    }

    @Test func `no limit counts the time of a pause`() async throws {
        // On a busy machine a limit may pass before the pause begins; were the pause counted, each of them would pass.
        var result: Outcome<JSONValue>?
        for scale in [1, 4, 16] where result?.value == nil { result = try await outcomeOfPause(scale) }
        #expect(result?.value == [:], "\(String(describing: result?.error))")
    }

    /// Makes a call that is paused for longer than all of its limits.
    private func outcomeOfPause(_ scale: Int) async throws -> Outcome<JSONValue> {
        let gate = Gate()
        let server = try TestServer {
            $0.path == "/never" ? Fault.silence.answer : .json("{}").after(gate)
        }
        let manager = manager {
            $0.timeout = .seconds(3 * scale)
            $0.timeouts.firstByte = .seconds(2 * scale)
        }
        return await outcome { success, failure in
            let task = manager.get(server.url(), success: success, failure: failure)
            Task {
                await gate.reached()
                task.suspend()
                let error = await requestError {
                    _ = try await transport.fetch(server.url("/never"), timeout: .milliseconds(3_500 * scale))
                }
                #expect(error != nil)
                gate.open()
                task.resume()
            }
        }
    }

    @Test func `the limits go on after a pause`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .json("{}").after(gate) }
        let manager = manager { $0.timeout = .milliseconds(300) }
        let result: Outcome<JSONValue> = await outcome { success, failure in
            let task = manager.get(server.url(), success: success, failure: failure)
            Task {
                await gate.reached()
                task.suspend()
                task.resume()
            }
        }
        guard case .timedOut(.total)? = result.error?.kind else {
            Issue.record("\(result)")
            return
        }
        gate.open()
    }

    @Test(arguments: [false, true])
    func `a suspended call can be cancelled`(startsSuspended: Bool) async throws {
        let gate = Gate()
        let server = try TestServer { _ in .json("{}").after(gate) }
        var options = RequestOptions()
        options.startsSuspended = startsSuspended
        let result: Outcome<JSONValue> = await outcome { success, failure in
            let task = manager().get(server.url(), options: options, success: success, failure: failure)
            Task {
                if !startsSuspended { await gate.reached() }
                task.suspend()
                task.cancel()
                #expect(task.state == .canceling || task.state == .completed)
                task.suspend()
                #expect(task.state != .suspended)
            }
        }
        guard case .cancelled? = result.error?.kind else {
            Issue.record("\(result)")
            return
        }
        gate.open()
    }

    /// Lets the order to pause come after the one to go on, as two threads may.
    private struct Overtaken: CallControl.Transfer {
        let orders: TransferOrders
        let control: CallControl

        func take(_ order: CallControl.Order) {
            if case .pause = order, control.isPaused {
                control.goOn()
            }
            orders.take(order)
        }
    }

    @Test func `a call that two threads suspend and resume is as the last of them has left it`() async throws
    {
        let gate = Gate()
        let server = try TestServer { $0.path == "/other" ? .text("") : .text("x").after(gate) }
        var context = TransportContext()
        let control = CallControl()
        context.control = control
        let url = try #require(URL(string: server.url()))
        let plan = try TransferPlan(HTTPRequest(url: url), body: .none, context: context)
        let answer = Task { try await transport.answer(to: plan).takeStreamed() }
        await gate.reached()
        let orders = TransferOrders(engine: transport.engine, id: plan.id)
        control.attach(Overtaken(orders: orders, control: control))
        control.pause()
        #expect(!control.isPaused)
        // All orders before this one have been taken when it has ended.
        _ = try await transport.fetch(server.url("/other"))
        gate.open()
        #expect(try await answer.value.head.status == 200)
    }

    @Test func `a call that is suspended while it waits for a connection lets the others pass`() async throws
    {
        let gate = Gate()
        let server = try TestServer { $0.path == "/first" ? .json("{}").after(gate) : .json("{}") }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let transport = CurlTransport(configuration)
        let manager = HTTPSessionManager(transport)
        let url = server.url()
        let first = Task { try await manager.get(url + "first") }
        await gate.reached()
        let tasks = Shared<[RequestTask]>([])
        let second = Task {
            let ended: Outcome<JSONValue> = await outcome { success, failure in
                let task = manager.get(url + "second", success: success, failure: failure)
                task.suspend()
                tasks.withLock { $0.append(task) }
            }
            return ended
        }
        while tasks.value.isEmpty { await Task.yield() }
        let third = Task { try await manager.get(url + "third") }
        gate.open()
        _ = try await first.value
        _ = try await third.value
        tasks.value.first?.resume()
        #expect(await second.value.value == [:])
        #expect(server.requests.map(\.path) == ["/first", "/third", "/second"])
    }
}

@Suite struct PriorityTests {
    @Test func `the most urgent of the requests that wait goes first`() async throws {
        let gate = Gate()
        let server = try TestServer { $0.path == "/v1/first" ? .json("{}").after(gate) : .json("{}") }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let transport = CurlTransport(configuration)
        let base = server.url("/v1/")
        let manager = HTTPSessionManager(transport) { $0.baseURL = URL(string: base) }
        let ended = AsyncStream<Void>.makeStream()
        @Sendable func call(_ path: String, _ priority: RequestPriority) -> RequestTask {
            var options = RequestOptions()
            options.priority = priority
            return manager.get(path, options: options) { _, _ in
                ended.continuation.yield()
            } failure: { _, error in
                Issue.record(error)
                ended.continuation.yield()
            }
        }
        _ = call("first", .normal)
        await gate.reached()
        _ = call("normal", .normal)
        _ = call("low", .low)
        _ = call("high", .high)
        let raised = call("raised", .low)
        _ = call("normal2", .normal)
        raised.priority = 0.9
        #expect(raised.priority.rawValue == 0.9)
        // All commands before this one have been taken when it has ended.
        let other = try TestServer { _ in .text("") }
        _ = try await transport.fetch(other.url())
        gate.open()
        var count = 0
        for await _ in ended.stream {
            count += 1
            if count == 6 { break }
        }
        #expect(
            server.requests.map(\.path)
                == ["first", "raised", "high", "normal", "normal2", "low"].map { "/v1/" + $0 }
        )
    }

    @Test func `pauses of two threads are told in the order in which they took effect`() async {
        let control = CallControl()
        let told = Shared<[Bool]>([])
        let isInside = DispatchSemaphore(value: 0)
        let mayLeave = DispatchSemaphore(value: 0)
        control.observePauses { begins in
            if begins, told.value.isEmpty {
                isInside.signal()
                mayLeave.wait()
            }
            told.withLock { $0.append(begins) }
        }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            DispatchQueue(label: "pausing").async {
                control.pause()
                done.resume()
            }
            DispatchQueue(label: "going on").async {
                isInside.wait()
                control.goOn()
                control.pause()
                mayLeave.signal()
            }
        }
        #expect(told.value == [true, false, true])
        #expect(control.isPaused)
    }

    @Test func `a priority is a number between 0 and 1`() {
        #expect(RequestPriority(rawValue: 7).rawValue == 1)
        #expect(RequestPriority(rawValue: -1).rawValue == 0)
        #expect(RequestPriority(rawValue: .nan).rawValue == 0)
        #expect(RequestPriority.low < .normal && RequestPriority.normal < .high)
    }
}

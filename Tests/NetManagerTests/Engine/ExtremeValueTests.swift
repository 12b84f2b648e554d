import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Numbers at the ends of their ranges, which must not bring the process down.
@Suite struct ExtremeValueTests {
    @Test(arguments: [
        (Duration(secondsComponent: .max, attosecondsComponent: 0), Int64.max),
        (
            Duration(secondsComponent: 9_223_372_036_854_775, attosecondsComponent: 999_999_999_999_999_999),
            .max
        ),
        (Duration(secondsComponent: .min, attosecondsComponent: 0), .min), (.nanoseconds(1), 1), (.zero, 0),
    ])
    func `milliseconds end where 64 bits do`(duration: Duration, milliseconds: Int64) {
        #expect(duration.milliseconds == milliseconds)
    }

    @Test(arguments: [
        (Duration(secondsComponent: .max, attosecondsComponent: 0), Int64.max),
        (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 999_999_999_999_999_999), .max),
        (Duration(secondsComponent: .min, attosecondsComponent: 0), .min), (.microseconds(1), 1000),
        (.zero, 0),
    ])
    func `nanoseconds end where 64 bits do`(duration: Duration, nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }

    @Test(arguments: [.infinity, 1e300, -1e300, .nan, 0])
    func `no number makes a wait before a retry that is none`(number: Double) {
        var policy = RetryPolicy()
        policy.multiplier = number
        policy.jitter = number
        policy.firstDelay = .seconds(Int64.max)
        policy.maximumDelay = .seconds(Int64.max)
        for firstDelay in [Duration.seconds(Int64.max), .seconds(1), .seconds(Int64.min), .zero] {
            policy.firstDelay = firstDelay
            for failures in [Int.min, 1, 2, 100] {
                let delay = policy.delay(afterFailures: failures, random: 0.5)
                #expect(delay >= .zero && delay <= .longest)
            }
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(-1)])
    func `limits of any size are kept or are none`(limit: Duration) async throws {
        let server = try TestServer { _ in .text("there") }
        var context = TransportContext(deadline: .now + .seconds(60))
        context.timeouts.idle = limit
        context.timeouts.queue = limit
        context.timeouts.connect = limit
        context.timeouts.firstByte = limit
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let transport = CurlTransport()
        do {
            #expect(try await transport.send(request, context: context).body.collect() == Data("there".utf8))
        } catch let error as RequestError {
            guard case .timedOut = error.kind, limit <= .zero else { throw error }
        }
    }

    @Test(
        arguments: [\Timeouts.idle, \.tls, \.connect, \.firstByte, \.queue]
            as [any WritableKeyPath<Timeouts, Duration?> & Sendable]
    )
    func `one limit of nothing ends its stage and holds nobody else up`(
        stage: any WritableKeyPath<Timeouts, Duration?> & Sendable
    ) async throws {
        let server = try TestServer { _ in .text("there") }
        let transport = CurlTransport()
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        var context = TransportContext(deadline: .now + .seconds(60))
        context.timeouts[keyPath: stage] = .zero
        do {
            #expect(try await transport.send(request, context: context).body.collect() == Data("there".utf8))
        } catch let error as RequestError {
            guard case .timedOut = error.kind else { throw error }
        }
        let other = TransportContext(deadline: .now + .seconds(60))
        #expect(try await transport.send(request, context: other).head.status == 200)
    }

    @Test func `entries of transfers that have ended can be dropped from the queue of deadlines`() {
        var queue = DeadlineQueue()
        for number in 0..<1000 as Range<UInt64> {
            queue.insert(.init(time: (number * 7919) % 1000, id: TransferID(number: number)))
        }
        queue.keep { $0.number % 10 == 0 }
        #expect(queue.count == 100)
        var times: [UInt64] = []
        while let entry = queue.popDue(now: .max) { times.append(entry.time) }
        #expect(times.count == 100)
        #expect(times == times.sorted())
    }
}

import Testing

@testable import NetManager

/// How many names are looked up at a time.
@Suite struct LookUpsTests {
    private let ids = (0..<1_000).map { TransferID(number: $0) }

    /// As many look-ups as may be run, some of which nobody waits for.
    private func full(abandoned: Int, threads: @escaping () -> Int?) -> LookUps {
        var lookUps = LookUps(countThreads: threads)
        let begun = (0..<LookUps.limit + 1).map { _ in lookUps.begin() }
        #expect(begun == Array(repeating: true, count: LookUps.limit) + [false])
        for _ in 0..<abandoned { lookUps.abandon(now: 1) }
        return lookUps
    }

    @Test func `as many as may be run, and the next one when one has ended`() {
        var lookUps = full(abandoned: 0) { 0 }
        lookUps.wait(ids[0])
        lookUps.wait(ids[1])
        let early = lookUps.admitted { _ in true }
        // Nobody need be counted: each will say when it has ended.
        let look = lookUps.look(now: 5)
        lookUps.end()
        let first = lookUps.admitted { _ in true }
        let begins = lookUps.begin()
        let second = lookUps.admitted { _ in true }
        #expect(early == [] && look == nil && first == [ids[0]] && begins && second == [])
    }

    @Test func `those that nobody waits for are counted now and then, while somebody waits for his turn`() {
        var threads = 256
        var counts = 0
        var lookUps = full(abandoned: 200) {
            counts += 1
            return threads
        }
        var looks = [lookUps.look(now: 5)]
        for id in ids.prefix(100) { lookUps.wait(id) }
        for time: UInt64 in [5, 50_000_000] { looks.append(lookUps.look(now: time)) }
        #expect(looks == [nil, 100_000_005, 100_000_005])
        #expect(counts == 1)
        // 56 run, so that all but four of the others have ended.
        threads = 60
        looks = [lookUps.look(now: 100_000_005)]
        let admitted = lookUps.admitted { _ in true }
        looks.append(lookUps.look(now: 900_000_000))
        #expect(looks == [100_000_005, nil])
        #expect(counts == 2)
        #expect(lookUps.abandoned == 4)
        #expect(admitted == Array(ids.prefix(100)))
    }

    @Test func `threads that cannot be counted are taken for ended after half a minute`() {
        var lookUps = full(abandoned: 256) { nil }
        lookUps.wait(ids[0])
        let looks = [lookUps.look(now: 29_000_000_000), lookUps.look(now: 31_000_000_000)]
        let admitted = lookUps.admitted { _ in true }
        #expect(looks == [29_100_000_000, 31_000_000_000])
        #expect(admitted == [ids[0]])
    }

    @Test func `who gives up his turn and comes back stands there once, behind those who waited`() {
        var lookUps = full(abandoned: 0) { 0 }
        for id in ids.prefix(2) { lookUps.wait(id) }
        lookUps.leave(ids[0])
        lookUps.wait(ids[0])
        for _ in 0..<3 { lookUps.end() }
        let admitted = lookUps.admitted { _ in true }
        #expect(admitted == [ids[1], ids[0]])
        #expect(!lookUps.isAwaited)
    }

    @Test func `who has left while waiting is neither admitted nor kept`() {
        var lookUps = full(abandoned: 0) { 0 }
        for id in ids { lookUps.wait(id) }
        let early = lookUps.admitted { $0 == ids[7] || $0 == ids[9] }
        lookUps.end()
        let late = lookUps.admitted { $0 != ids[7] }
        #expect(early == [] && late == [ids[9]])
        #expect(!lookUps.isAwaited)
    }
}

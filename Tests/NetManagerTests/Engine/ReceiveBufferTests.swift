import CCurlShims
import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import NetManager

/// Where libcurl's receive buffers lie.
///
/// Transfers of other tests take some and give some back meanwhile.
struct ReceiveBufferTests {
    /// What libcurl asks for when CURLOPT_BUFFERSIZE is 16 KiB.
    private static let size = (16 << 10) + 1
    private static let page = sysconf(Int32(_SC_PAGESIZE))

    init() { CurlLibrary.prepare() }

    private func buffers(_ count: Int) throws -> [UnsafeMutableRawPointer] {
        try (0..<count).map { _ in try #require(nm_allocate(Self.size)) }
    }

    private func fill(_ buffer: UnsafeMutableRawPointer, with byte: Int) {
        memset(buffer, Int32(byte & 0xFF), Self.size)
    }

    private func holds(_ buffer: UnsafeMutableRawPointer, _ byte: Int) -> Bool {
        UnsafeRawBufferPointer(start: buffer, count: Self.size).allSatisfy { $0 == UInt8(byte & 0xFF) }
    }

    @Test func `no two buffers share a page, and what is in one stays when others come and go`() throws {
        var all = try buffers(600)
        for (number, buffer) in all.enumerated() { fill(buffer, with: number) }
        #expect(all.allSatisfy { Int(bitPattern: $0) % Self.page == 0 })
        for number in stride(from: 0, to: 600, by: 2) { nm_release(all[number]) }
        for number in stride(from: 0, to: 600, by: 2) {
            all[number] = try #require(nm_allocate(Self.size))
            fill(all[number], with: number + 7)
        }
        let starts = all.map { Int(bitPattern: $0) }.sorted()
        let ends = starts.map { ($0 + Self.size + Self.page - 1) / Self.page * Self.page }
        #expect(zip(starts.dropFirst(), ends).allSatisfy { $0 >= $1 })
        for (number, buffer) in all.enumerated() {
            #expect(holds(buffer, number % 2 == 0 ? number + 7 : number))
            nm_release(buffer)
        }
    }

    @Test(.enabled(if: !isSanitized, "the address sanitizer wants malloc's blocks"))
    func `buffers are not in memory before they are used, and when they are given back only some are`()
        throws
    {
        try #require(nm_lays_buffers_apart() == 1)
        let all = try buffers(1_000)
        for buffer in all { fill(buffer, with: 1) }
        #expect(residentCount(all) == 1_000)
        for buffer in all { nm_release(buffer) }
        // 256 are kept.
        #expect(residentCount(all) < 500)
        // Those that were kept are the first to be used again.
        let next = try buffers(1_000)
        #expect(residentCount(next) < 500)
        for buffer in next { nm_release(buffer) }
    }

    /// How many buffers have their first page in memory (mincore(2)).
    private func residentCount(_ buffers: [UnsafeMutableRawPointer]) -> Int {
        buffers.count { buffer in
            var isResident: UInt8 = 0
            return mincore(buffer, Self.page, &isResident) == 0 && isResident & 1 == 1
        }
    }

    @Test(arguments: [100, size - 1, size, size + 1, 256 << 10])
    func `a block of a buffer's size becomes larger or smaller without losing anything`(size: Int) throws {
        let buffer = try #require(nm_allocate(Self.size))
        fill(buffer, with: 9)
        let moved = try #require(nm_resize(buffer, size))
        let kept = UnsafeRawBufferPointer(start: moved, count: min(size, Self.size))
        #expect(kept.allSatisfy { $0 == 9 })
        nm_release(moved)
    }

    @Test(.enabled(if: !isSanitized, "the sanitizers' own threads and locks do not outlive a fork"))
    func `a child of fork can take buffers though other threads were at it`() async throws {
        let hasEnded = Atomic<Bool>(false)
        let took = DispatchGroup()
        for _ in 0..<2 {
            DispatchQueue.global().async(group: took) {
                while !hasEnded.load(ordering: .relaxed) { nm_release(nm_allocate(Self.size)) }
            }
        }
        let statuses = await withCheckedContinuation { continuation in
            DispatchQueue(label: "forks").async {
                let statuses = (0..<100).map { _ in test_call_in_child { nm_release(nm_allocate(16_385)) } }
                hasEnded.store(true, ordering: .relaxed)
                took.wait()
                continuation.resume(returning: statuses)
            }
        }
        #expect(statuses.allSatisfy { $0 == 0 })
    }

    @Test func `blocks of other sizes, and none at all, are released as malloc's are`() throws {
        for size in [1, 5_000, 16 << 10, Self.size + 1, 1 << 20] {
            let block = try #require(nm_allocate(size))
            memset(block, 1, size)
            let larger = try #require(nm_resize(block, size * 2))
            nm_release(larger)
        }
        nm_release(nil)
        nm_release(nm_resize(nil, 10))
    }
}

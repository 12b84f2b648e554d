import Testing

@testable import NetManager

@Suite struct TransferStateTests {
    @Test func `a request may start once whatever its method`() {
        var state = TransferState()
        let answer1 = state.requestStarts(isIdempotent: false)
        #expect(answer1)
    }

    @Test func `a POST is not repeated when nothing of a response came`() {
        var state = TransferState()
        _ = state.requestStarts(isIdempotent: false)
        let answer2 = state.requestStarts(isIdempotent: false)
        #expect(!answer2)
    }

    @Test func `a GET may be repeated`() {
        var state = TransferState()
        _ = state.requestStarts(isIdempotent: true)
        let answer3 = state.requestStarts(isIdempotent: true)
        #expect(answer3)
    }

    @Test func `a POST may follow an answer that asked for credentials`() {
        var state = TransferState()
        _ = state.requestStarts(isIdempotent: false)
        let answer4 = state.headerLine(looksFirst: true)
        #expect(answer4 == .first)
        let answer5 = state.headEnds(status: 401)
        #expect(answer5)
        let answer6 = state.requestStarts(isIdempotent: false)
        #expect(answer6)
        // With credentials the server may have done it.
        #expect(state.mayHaveBeenExecuted && !state.hasHead)
    }

    @Test(arguments: [100, 102, 103, 199])
    func `an informational answer is no final head`(status: Int) {
        var state = TransferState()
        _ = state.headerLine(looksFirst: true)
        let answer7 = state.headEnds(status: status)
        #expect(!answer7)
        #expect(!state.hasHead)
    }

    @Test(arguments: [101, 200, 204, 304, 404, 599])
    func `a final answer has a head`(status: Int) {
        var state = TransferState()
        _ = state.headerLine(looksFirst: true)
        let answer8 = state.headEnds(status: status)
        #expect(answer8)
        #expect(state.hasHead)
    }

    @Test func `trailers belong to no header section`() {
        var state = TransferState()
        _ = state.headerLine(looksFirst: true)
        _ = state.headEnds(status: 200)
        let answer9 = state.headerLine(looksFirst: false)
        #expect(answer9 == .trailer)
        // A line behind the content that reads like a status line is no second response.
        let answer10 = state.headerLine(looksFirst: true)
        #expect(answer10 == .trailer)
        #expect(state.hasHead)
    }

    @Test func `the first reason to fail is the one that counts`() {
        var state = TransferState()
        _ = state.fail(.bodyTooLarge)
        _ = state.fail(.headersTooLarge)
        guard case .bodyTooLarge = state.finish(.cancelled) else {
            Issue.record("another reason was given")
            return
        }
    }

    @Test func `a request that was begun and not answered may have been executed`() {
        var state = TransferState()
        #expect(!state.mayHaveBeenExecuted)
        _ = state.requestStarts(isIdempotent: false)
        #expect(state.mayHaveBeenExecuted)
        _ = state.headerLine(looksFirst: true)
        _ = state.headEnds(status: 500)
        #expect(!state.mayHaveBeenExecuted)
    }

    @Test func `a status line in the middle of a head has no meaning`() {
        var state = TransferState()
        _ = state.requestStarts(isIdempotent: true)
        let lines = [true, false, true].map { state.headerLine(looksFirst: $0) }
        #expect(lines == [.first, .field, .misplaced])
    }

    @Test func `a field without a status line has no meaning`() {
        var state = TransferState()
        _ = state.requestStarts(isIdempotent: true)
        let line = state.headerLine(looksFirst: false)
        #expect(line == .misplaced)
    }

    @Test func `a POST is not repeated when interim answers alone came`() {
        var state = TransferState()
        _ = state.requestStarts(isIdempotent: false)
        _ = state.headerLine(looksFirst: true)
        _ = state.headEnds(status: 103)
        let next = state.headerLine(looksFirst: true)
        #expect(next == .first)
        _ = state.headEnds(status: 100)
        let mayStart = state.requestStarts(isIdempotent: false)
        #expect(!mayStart)
        #expect(state.mayHaveBeenExecuted)
    }
}

// module: Serializers
//
// Any bytes in any row of codings, fed in pieces of any size: decoding must end, without a crash, in pieces that have their
// limit, and however the bytes are cut the same content or the same complaint must come of them. The first byte is the
// number and kind of the codings, the second the size of the pieces; good members are put in front on request.

import FoundationEssentials

@testable import Serializers

/// One input under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContentDecoder(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    guard count >= 2 else { return 0 }
    let codings: [ContentDecoder.Coding] = (0..<Int(input[0] & 3)).map {
        input[0] >> (2 + $0) & 1 == 0 ? .gzip : .deflate
    }
    let bytes = (input[0] & 0x80 == 0 ? Data() : Data(member)) + Data(input.dropFirst(2))
    let whole = decoded(bytes, codings, size: bytes.count)
    let pieces = decoded(bytes, codings, size: Int(input[1]) + 1)
    precondition(whole.failure == pieces.failure, "the pieces decide whether it can be decoded")
    if whole.failure == nil { precondition(whole.content == pieces.content, "the pieces change the content") }
    let text = String(decoding: input, as: UTF8.self)
    if let read = try? ContentDecoder.codings([text]) {
        precondition(read.count <= ContentDecoder.mostCodings, "more codings than are allowed")
    }
    return 0
}

private func decoded(_ bytes: Data, _ codings: [ContentDecoder.Coding], size: Int) -> (
    content: Data, failure: ContentDecoder.Failure?
) {
    // A ratio that fuzzing does not reach: when it is passed depends on the pieces.
    var decoder = ContentDecoder(codings, maximumRatio: .max)
    var rest = bytes
    var content = Data()
    while true {
        do {
            switch try decoder.step() {
            case .piece(let piece):
                precondition(
                    !piece.isEmpty && piece.count <= ContentDecoder.pieceSize,
                    "a piece without measure"
                )
                content += piece
                // Bombs are for the tests.
                if content.count > 4 << 20 { return (Data(), nil) }
            case .nothing: break
            case .needsInput:
                let piece = Data(rest.prefix(size))
                rest = rest.dropFirst(piece.count)
                decoder.received += piece.count
                if piece.isEmpty { decoder.feedEnd() } else { decoder.feed(piece) }
            case .end: return (content, nil)
            }
        } catch {
            return (content, error)
        }
    }
}

/// “hello hello hello”, compressed by gzip.
private let member: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x90, 0, 0x80, 0x88,
    0xF9, 0xE5,
    17, 0, 0, 0,
]

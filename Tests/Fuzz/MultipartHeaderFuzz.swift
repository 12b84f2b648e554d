// module: Serializers
//
// Any name, file name, content type and content: a part has the lines that it should have and no more, and its
// content does not hold the boundary.

import FoundationEssentials

@testable import Serializers

/// Tries one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMultipartHeader(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    let texts = bytes.split(separator: 0, maxSplits: 3, omittingEmptySubsequences: false)
    let words = texts.map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 4, var form = try? MultipartForm(boundary: "B") else { return 0 }
    form.append(Data(texts[3]), name: words[0], fileName: words[1], mimeType: words[2])

    let part = form.parts[0]
    precondition(!part.mayHold(delimiter: "--" + form.boundary), "the content holds the boundary")
    let isValid = (try? form.validate()) != nil
    precondition(isValid == !words[2].utf8.contains { $0 == 13 || $0 == 10 })
    guard isValid else { return 0 }

    let header = Array(part.header.utf8)
    precondition(header.suffix(4).elementsEqual("\r\n\r\n".utf8))
    precondition(header.count { $0 == 13 } == 3 && header.count { $0 == 10 } == 3, "a line too many")
    guard let end = header.firstIndex(of: 13) else { preconditionFailure("no line") }
    let disposition = header[..<end]
    precondition(disposition.count { $0 == UInt8(ascii: "\"") } == 4, "a quotation mark too many")
    precondition(disposition.starts(with: "Content-Disposition: form-data; name=\"".utf8))
    precondition(
        form.contentLength == Int64(header.count + texts[3].count + 2 * form.boundary.utf8.count + 12)
    )
    return 0
}

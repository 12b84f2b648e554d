package import FoundationEssentials
package import HTTPMessage

extension HTTPResponse.Head {
    /// Reads a whole header section, as it is read when it has arrived line by line; nil when it is none.
    package static func parsing(_ section: [UInt8], url: URL) -> HTTPResponse.Head? {
        var block = HeaderBlock()
        section.withUnsafeBytes { bytes in
            for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
                block.append(
                    UnsafeRawBufferPointer(
                        start: bytes.baseAddress.map { $0 + line.startIndex },
                        count: min(line.count + 1, bytes.count - line.startIndex)
                    )
                )
            }
        }
        return block.head(url: url)
    }
}

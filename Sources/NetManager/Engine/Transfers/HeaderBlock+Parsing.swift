package import FoundationEssentials
package import HTTPMessage

extension HTTPResponse.Head {
    /// Reads a whole header section, as it is read when it has arrived line by line; nil when it is none.
    package static func parsing(_ section: [UInt8], url: URL) -> HTTPResponse.Head? {
        var block = HeaderBlock()
        for line in section.split(separator: 0x0A) {
            (line + [0x0A]).withUnsafeBytes { block.append($0) }
        }
        return block.head(url: url)
    }
}

package import FoundationEssentials
package import HTTPMessage

extension HTTPResponse.Head {
    /// Reads a whole header section, as it is read when it has arrived line by line; nil when it is none.
    package static func parsing(_ section: [UInt8], url: URL) -> HTTPResponse.Head? {
        var block = HeaderBlock()
        section.withUnsafeBytes { block.append($0) }
        return block.head(url: url)
    }
}

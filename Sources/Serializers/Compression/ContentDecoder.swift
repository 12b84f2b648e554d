package import FoundationEssentials
import HTTPMessage

/// Undoes the content codings of a body (RFC 9110, section 8.4), bytes in and bytes out, in pieces that have a limit.
///
/// It waits for nobody and decides nothing by time: whoever has bytes feeds them, and takes steps until more are
/// needed. What it holds is the bytes that were fed last and, for each coding, a piece of ``pieceSize`` bytes and what
/// zlib remembers (40 KiB).
package struct ContentDecoder {
    /// A coding that is known here.
    package enum Coding: Sendable, Hashable {
        /// RFC 1952: any number of members.
        case gzip
        /// RFC 1950, or as some servers send it, RFC 1951 alone.
        case deflate
    }

    /// Why a body cannot be decoded.
    package enum Failure: Error, Hashable {
        /// The coding of this name is not known here.
        case unknown(String)
        /// There are more codings than any server has reason for.
        case tooMany
        /// The bytes are not in their coding's format, or go on behind its end.
        case malformed
        /// The bytes end before the coding does.
        case truncated
        /// Far more bytes come out than went in.
        case bomb
        /// zlib gets no memory.
        case noMemory
    }

    /// What a step brought.
    package enum Step {
        /// Bytes of the content: at least one, at most ``pieceSize``.
        case piece(Data)
        /// None yet, and there is more to do.
        case nothing
        /// Bytes must be fed, or their end.
        case needsInput
        /// The content is complete.
        case end
    }

    /// What servers are asked for: the codings that are known here, as a field value.
    package static let acceptedCodings = "gzip, deflate"
    /// The most codings of one body: libcurl's own limit (MAX_ENCODE_STACK).
    package static let mostCodings = 5
    /// The most bytes of a piece.
    package static let pieceSize = 64 << 10
    /// So many bytes are decoded before the ratio is looked at: less is no danger.
    package static let unsuspectedSize = 8 << 20

    /// How many coded bytes there have been, for the ratio; feeding does not count.
    package var received = 0
    private let maximumRatio: Int
    /// In the order in which they are undone.
    private var layers: [Layer]
    private var input = Data()
    private var hasAllInput = false
    private let room = Room()

    private struct Layer {
        let inflater: Inflater
        /// What was decoded and has not been taken by the next layer.
        var made = Data()
        /// Bytes decoded in all.
        var total = 0
        /// Whether zlib may have more without being fed.
        var mayHaveMore = false
    }

    /// Where zlib puts what it decodes, before it is known how much that is.
    private final class Room {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)

        deinit { bytes.deallocate() }
    }

    /// Makes a decoder.
    /// - Parameters:
    ///   - codings: In the order in which they were applied.
    ///   - maximumRatio: How many bytes may come of one, once ``unsuspectedSize`` bytes have been decoded.
    package init(_ codings: [Coding], maximumRatio: Int) {
        layers = codings.reversed().map { Layer(inflater: Inflater($0)) }
        self.maximumRatio = maximumRatio
    }

    /// Takes in coded bytes, when a step has asked for them.
    package mutating func feed(_ bytes: Data) {
        input = input.isEmpty ? bytes : input + bytes
    }

    /// Takes in that there are no more coded bytes.
    package mutating func feedEnd() {
        hasAllInput = true
    }

    /// Decodes a bit, at most ``pieceSize`` bytes.
    ///
    /// Nothing may be asked of the decoder after an error.
    package mutating func step() throws(Failure) -> Step {
        guard !layers.isEmpty else { return passOn() }
        // The last one that can do anything, so that nothing piles up in front of another.
        let able = layers.indices.last { layers[$0].mayHaveMore || !inputIsEmpty(of: $0) }
        guard let able else {
            guard hasAllInput else { return .needsInput }
            for layer in layers {
                do { try layer.inflater.finish() } catch { throw Failure(error) }
            }
            return .end
        }
        let made = try run(able)
        guard made > 0 else { return .nothing }
        let bytes = Data(UnsafeRawBufferPointer(rebasing: room.bytes[..<made]))
        guard able < layers.count - 1 else { return .piece(bytes) }
        layers[able].made = bytes
        return .nothing
    }

    private func inputIsEmpty(of index: Int) -> Bool {
        index == 0 ? input.isEmpty : layers[index - 1].made.isEmpty
    }

    /// Lets a layer work once.
    /// - Returns: How many bytes lie in the room now.
    private mutating func run(_ index: Int) throws(Failure) -> Int {
        let source = index == 0 ? input : layers[index - 1].made
        let inflater = layers[index].inflater
        let (taken, made) = try source.withUnsafeBytes { source in
            Result { () throws(Inflater.Fault) in try inflater.run(source, into: room.bytes) }
        }.mapError(Failure.init).get()
        // An empty slice would hold the whole in memory.
        let rest = taken == source.count ? Data() : source.dropFirst(taken)
        if index == 0 { input = rest } else { layers[index - 1].made = rest }
        layers[index].mayHaveMore = made == room.bytes.count
        layers[index].total += made
        // Each layer is looked at: bytes between two of them cost time though the content has none of them.
        let total = layers[index].total
        guard total <= Self.unsuspectedSize || total / max(1, received) <= maximumRatio else { throw .bomb }
        return made
    }

    /// Without a coding, the content is what was fed.
    private mutating func passOn() -> Step {
        guard !input.isEmpty else { return hasAllInput ? .end : .needsInput }
        let piece = Data(input.prefix(Self.pieceSize))
        input = piece.count == input.count ? Data() : input.dropFirst(piece.count)
        return .piece(piece)
    }

    /// Reads what the `Content-Encoding` fields of a response say.
    /// - Returns: The codings, in the order in which they were applied; none for no coding.
    package static func codings(_ fields: [String]) throws(Failure) -> [Coding] {
        var codings: [Coding] = []
        var count = 0
        for field in fields {
            for element in field.utf8.split(separator: UInt8(ascii: ",")) {
                let name = Substring(element).trimmingOptionalWhitespace.asciiLowercased
                guard !name.isEmpty else { continue }
                count += 1
                guard count <= mostCodings else { throw .tooMany }
                switch name {
                case "gzip", "x-gzip": codings.append(.gzip)
                case "deflate": codings.append(.deflate)
                // The second is what libcurl takes for the first.
                case "identity", "none": break
                default: throw .unknown(name)
                }
            }
        }
        return codings
    }
}

extension ContentDecoder.Failure {
    fileprivate init(_ fault: Inflater.Fault) {
        switch fault {
        case .malformed, .trailingBytes: self = .malformed
        case .truncated: self = .truncated
        case .noMemory: self = .noMemory
        }
    }
}

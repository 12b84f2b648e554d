import CZlib
import CZlibShims

/// One content coding undone by zlib, from the first byte to the last.
///
/// It is used by one owner at a time. zlib refuses a stream that has moved in memory, hence the pointer.
final class Inflater {
    /// What is wrong with the coded bytes.
    enum Fault: Error, Equatable {
        /// They are not in the coding's format, or a checksum does not fit.
        case malformed
        /// More bytes follow than the format has.
        case trailingBytes
        /// They end too early.
        case truncated
        /// zlib gets no memory.
        case noMemory
    }

    private enum Stage {
        /// No byte has come.
        case untouched
        /// The first byte of a deflate has come, which alone does not say whether it begins the zlib format.
        case undecided(UInt8)
        case running
        /// The format's end was there; so many bytes that mean nothing may follow.
        case complete(spare: Int)
    }

    private let coding: ContentDecoder.Coding
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false
    private var isRaw = false
    private var stage = Stage.untouched

    init(_ coding: ContentDecoder.Coding) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    /// Decodes until the input is used up or the output is full, or less: whoever has input left calls again.
    /// - Returns: The bytes that were taken from the input and those that were put into the output.
    func run(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> (taken: Int, made: Int) {
        switch stage {
        case .untouched:
            guard let first = input.first else { return (0, 0) }
            guard coding == .gzip else {
                stage = .undecided(first)
                return (1, 0)
            }
            // libcurl lets zlib's own format pass under this name, so it is let pass here too.
            try open(windowBits: 47)
        case .undecided(let first):
            guard let second = input.first else { return (0, 0) }
            // RFC 1950, section 2.2. Some servers leave the format out and send bare deflate (RFC 9110, section 8.4.1.2);
            // that begins so only if the bits that it does not use were set.
            isRaw = !(first & 15 == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)) % 31 == 0)
            try open(windowBits: isRaw ? -15 : 15)
            // Eight bits bring no byte of content in either format.
            _ = try withUnsafeBytes(of: first) { first throws(Fault) in try step(first, into: output) }
        case .running:
            break
        case .complete(let spare):
            guard let first = input.first else { return (0, 0) }
            if spare > 0 {
                let taken = min(spare, input.count)
                stage = .complete(spare: spare - taken)
                return (taken, 0)
            }
            // A gzip file is a row of members (RFC 1952, section 2.2), each of which begins with 31.
            guard coding == .gzip, first == 0x1F else { throw .trailingBytes }
            guard inflateReset2(stream, 31) == Z_OK else { throw .noMemory }
            stage = .running
        }
        return try step(input, into: output)
    }

    /// Sees whether the bytes may end here: none at all are an empty content in any coding.
    func finish() throws(Fault) {
        switch stage {
        case .untouched, .complete: break
        case .undecided, .running: throw .truncated
        }
    }

    private func open(windowBits: Int32) throws(Fault) {
        guard nm_inflate_init(stream, windowBits) == Z_OK else { throw .noMemory }
        isOpen = true
        stage = .running
    }

    /// Lets zlib work once.
    private func step(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> (taken: Int, made: Int) {
        // zlib counts in 32 bits. It does not write to its input, its field is not const for old compilers' sake.
        let offered = min(input.count, 1 << 30)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.assumingMemoryBound(to: Bytef.self).baseAddress
        )
        stream.pointee.avail_in = uInt(offered)
        stream.pointee.next_out = output.assumingMemoryBound(to: Bytef.self).baseAddress
        stream.pointee.avail_out = uInt(min(output.count, 1 << 30))
        let code = inflate(stream, Z_SYNC_FLUSH)
        let taken = offered - Int(stream.pointee.avail_in)
        let made = min(output.count, 1 << 30) - Int(stream.pointee.avail_out)
        stream.pointee.next_in = nil
        stream.pointee.next_out = nil
        switch code {
        case Z_OK:
            break
        case Z_STREAM_END:
            // As libcurl does: who writes bare deflate may have left only the head of the format out.
            stage = .complete(spare: isRaw ? 4 : 0)
        case Z_BUF_ERROR where taken == 0 && made == 0 && (offered == 0 || output.isEmpty):
            // There was nothing to do.
            break
        case Z_MEM_ERROR:
            throw .noMemory
        default:
            throw .malformed
        }
        return (taken, made)
    }
}

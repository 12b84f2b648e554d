import CZlib
import CZlibShims
import FoundationEssentials

/// One compression by zlib, from the first byte to the last.
///
/// It is used by one owner at a time. zlib refuses a stream that has moved in memory, hence the pointer.
final class Deflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private var room = [UInt8](repeating: 0, count: 65_536)

    init(_ coding: RequestCompression.Coding) throws(SerializationError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // zlib.h: 15 bits are the largest window, 16 more ask for the gzip format.
        let bits: Int32 = coding == .gzip ? 31 : 15
        let code = nm_deflate_init(stream, Z_DEFAULT_COMPRESSION, bits)
        // What there is goes with `deinit`, which is called here too as the object is complete.
        guard code == Z_OK else { throw .invalidRequest("zlib cannot compress the body (code \(code))") }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Takes in bytes and returns those that are ready, maybe none.
    func compress(_ data: Data) throws(SerializationError) -> Data {
        var result = Data()
        var rest = data
        // zlib counts in 32 bits.
        while !rest.isEmpty {
            let piece = rest.prefix(1 << 30)
            try run(piece, flush: Z_NO_FLUSH, into: &result)
            rest = rest.dropFirst(piece.count)
        }
        return result
    }

    /// Returns the last bytes.
    func finish() throws(SerializationError) -> Data {
        var result = Data()
        try run(Data(), flush: Z_FINISH, into: &result)
        return result
    }

    private func run(_ input: Data, flush: Int32, into result: inout Data) throws(SerializationError) {
        let code = input.withUnsafeBytes { input -> Int32 in
            // zlib does not write to its input, its field is not const for old compilers' sake.
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: input.assumingMemoryBound(to: Bytef.self).baseAddress
            )
            stream.pointee.avail_in = uInt(input.count)
            defer { stream.pointee.next_in = nil }
            while true {
                let (code, count) = step(flush)
                result.append(contentsOf: room[..<count])
                // It has taken in everything when it leaves room; at the end it says so itself.
                if code == Z_STREAM_END || code != Z_OK || flush == Z_NO_FLUSH && count < room.count {
                    return code
                }
            }
        }
        // Nothing to do (Z_BUF_ERROR) is no error: the bytes before filled the room exactly.
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR && flush == Z_NO_FLUSH else {
            throw .invalidRequest("zlib cannot compress the body (code \(code))")
        }
    }

    /// Lets zlib fill the room once, and returns its code and the number of bytes.
    private func step(_ flush: Int32) -> (code: Int32, count: Int) {
        room.withUnsafeMutableBufferPointer { room in
            stream.pointee.next_out = room.baseAddress
            stream.pointee.avail_out = uInt(room.count)
            defer { stream.pointee.next_out = nil }
            let code = CZlib.deflate(stream, flush)
            return (code, room.count - Int(stream.pointee.avail_out))
        }
    }
}

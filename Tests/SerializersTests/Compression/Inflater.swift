import CZlib
import Foundation

/// Decompresses as a server would.
enum Inflater {
    struct Malformed: Error { let code: Int32 }

    /// The content of one gzip or zlib stream; anything behind its end is an error.
    static func inflate(_ data: Data, gzip: Bool) throws -> Data {
        var stream = z_stream()
        // zlib.h: 15 bits for zlib, 16 more for gzip.
        let version = zlibVersion()
        let opened = inflateInit2_(&stream, gzip ? 31 : 15, version, Int32(MemoryLayout<z_stream>.size))
        guard opened == Z_OK else { throw Malformed(code: opened) }
        defer { inflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: 65_536)
        var result = Data()
        var code = Z_OK
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = uInt(input.count)
            while code == Z_OK {
                output.withUnsafeMutableBufferPointer { room in
                    stream.next_out = room.baseAddress
                    stream.avail_out = uInt(room.count)
                    code = CZlib.inflate(&stream, Z_NO_FLUSH)
                }
                result.append(contentsOf: output[..<(output.count - Int(stream.avail_out))])
            }
        }
        guard code == Z_STREAM_END, stream.avail_in == 0 else { throw Malformed(code: code) }
        return result
    }
}

import CZlib
import Foundation

/// Compresses as servers do.
enum Deflated {
    /// The window bits of zlib.h say the format.
    enum Format: Int32, CaseIterable { case zlib = 15, gzip = 31, raw = -15 }

    struct Failed: Error { let code: Int32 }

    static func data(_ data: Data, _ format: Format) throws -> Data {
        var stream = z_stream()
        let opened = deflateInit2_(
            &stream,
            6,
            Z_DEFLATED,
            format.rawValue,
            8,
            Z_DEFAULT_STRATEGY,
            zlibVersion(),
            Int32(MemoryLayout<z_stream>.size)
        )
        guard opened == Z_OK else { throw Failed(code: opened) }
        defer { deflateEnd(&stream) }
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(data.count))))
        let code = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard code == Z_STREAM_END else { throw Failed(code: code) }
        return Data(output[..<(output.count - Int(stream.avail_out))])
    }
}

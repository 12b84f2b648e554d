import CCurl
import CCurlShims
import Glibc
import Locks
import SecurityPolicy
import Synchronization

/// libcurl and OpenSSL as the process has them: initialized once, ended safely at exit.
enum CurlLibrary {
    /// libcurl's TLS library and its version, such as `OpenSSL/3.0.22`.
    static let tlsLibrary: String = {
        prepare()
        guard let version = curl_version_info(CURLVERSION_FIRST), let name = version.pointee.ssl_version
        else {
            return "none"
        }
        return String(cString: name)
    }()

    /// Whether it is OpenSSL; with another one no policy could be asked, so https is refused.
    static let usesOpenSSL = tlsLibrary.hasPrefix("OpenSSL/")

    /// Whether libcurl may read for a transfer that is paused, and keep what it reads until it has 64 MiB and gives up.
    ///
    /// 8.5 waits for every connected socket (cf_socket_adjust_pollset), and 7.88 for those that are not paused. Later
    /// versions are right again, but from which on was not seen.
    static let readsWhilePaused = version >= 0x08_05_00

    /// Whether libcurl reads a bare connection again and again, up to a hundred times, while the kernel has bytes.
    ///
    /// 7.88 does (cf_socket_data_pending), 8.5 comes back after each read, and 8.14 reads ten times. From which version on is
    /// not known; where it comes back, pausing changes nothing.
    static let readsUntilDry = version < 0x08_00_00 || version >= 0x08_06_00

    /// Whether libcurl reads nothing more of a stream over HTTP/2 once the declared length is there, although it still
    /// sends, and does not see that the stream is over when it sends the last byte itself.
    ///
    /// 7.88 does. 8.5 and 8.14 were seen to do neither, and told to read on (``EasyHandle/readToEndOfStream(_:)``) they would
    /// take half a content for the whole when its stream is reset without an error.
    static let stopsReadingAtLength = version < 0x08_00_00

    /// libcurl's own, a byte each for major, minor and patch.
    static let version: UInt32 = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0

    /// The codings of content that are asked for, as `Accept-Encoding` lists them; nil for none.
    ///
    /// Those that libcurl can decode but for deflate, which it undoes where a server sends it: under that name some send
    /// the zlib format and some send it bare (RFC 9110, section 8.4.1.2), and who has it has gzip too.
    static let acceptEncoding: String? = {
        prepare()
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return nil }
        let codings = [
            (CURL_VERSION_LIBZ, "gzip"), (CURL_VERSION_BROTLI, "br"), (CURL_VERSION_ZSTD, "zstd"),
        ]
        let known = codings.filter { version.pointee.features & Int32($0.0) != 0 }.map(\.1)
        return known.isEmpty ? nil : known.joined(separator: ", ")
    }()

    /// Initializes both libraries; later calls do nothing.
    ///
    /// OpenSSL 3 frees its tables in an exit handler of its own while transfers still run, which crashes the process.
    /// So it is told not to, which works when this is its first call; and because another library may have called it
    /// before, an exit handler that is registered after OpenSSL's, and therefore runs before it, stops the engines.
    static func prepare() {
        _ = prepared
    }

    private static let prepared: Void = {
        OpenSSLLibrary.prepare()
        nm_global_init()
        keepMemory()
        ForkCount.prepare()
        atexit { EngineRegistry.stopAll() }
    }()
}

extension CurlLibrary {
    /// Lets the allocator see once that four mebibytes come and go.
    ///
    /// From then on glibc gives memory back to the system in steps of eight and not of an eighth (M_TRIM_THRESHOLD in
    /// mallopt(3), which it adapts by itself). Buffers of the transfers that end together are more than that eighth, so
    /// they were given back and asked for again with every turn: a twentieth of a small request.
    private static func keepMemory() {
        var block: UnsafeMutableRawPointer?
        guard posix_memalign(&block, 16, 4 << 20) == 0 else { return }
        free(block)
    }
}

/// The engines whose threads run, for the exit handler.
enum EngineRegistry {
    private static let engines = Guarded<[ObjectIdentifier: Engine]>([:])
    /// The process that put an engine in last (ForkCount).
    private static let lastInsertion = Atomic<UInt32>(.max)

    static func insert(_ engine: Engine) {
        lastInsertion.store(ForkCount.current, ordering: .relaxed)
        engines.withLock { $0[ObjectIdentifier(engine)] = engine }
    }

    static var count: Int { engines.withLock(\.count) }

    static func remove(_ engine: Engine) {
        engines.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(engine)) }
    }

    /// Stops every engine and waits for its thread.
    ///
    /// A child of a fork has no thread that could end, and may have got the lock as another thread held it.
    static func stopAll() {
        guard lastInsertion.load(ordering: .relaxed) == ForkCount.current else { return }
        let running = engines.withLock { engines in engines.values.filter { !$0.isOrphaned } }
        for engine in running { engine.halt() }
        for engine in running { engine.join() }
    }
}

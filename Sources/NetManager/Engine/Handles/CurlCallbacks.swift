import CCurl
import CCurlShims
import Glibc
import SecurityPolicy

/// The functions that libcurl calls, on the engine's thread.
///
/// Each finds its handle and hands on.
enum CurlCallbacks {
    static func install(on easy: UnsafeMutableRawPointer) {
        nm_easy_setopt_data_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlCallbacks.with(context) { $0.received(body: piece) } ?? 0
        }
        nm_easy_setopt_data_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlCallbacks.with(context) { $0.received(headerLine: line) } ?? 0
        }
        nm_easy_setopt_data_callback(easy, CURLOPT_READFUNCTION) { bytes, size, count, context in
            let room = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return CurlCallbacks.with(context) { $0.send(into: room) } ?? Int(CURL_READFUNC_ABORT)
        }
        nm_easy_setopt_seek_callback(easy) { context, offset, origin in
            let isDone =
                origin == SEEK_SET && CurlCallbacks.transfer(context)?.seekUpload(to: Int64(offset)) == true
            return isDone ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK
        }
        nm_easy_setopt_resolver_callback(easy) { _, _, context in
            // Anything but 0 ends the transfer.
            CurlCallbacks.transfer(context)?.resolves() == false ? 1 : 0
        }
        nm_easy_setopt_prereq_callback(easy) { context, remoteAddress, localAddress, remotePort, localPort in
            let ends = ConnectionEnds(
                remote: ConnectionEnds.Told(address: remoteAddress, port: remotePort),
                local: ConnectionEnds.Told(address: localAddress, port: localPort)
            )
            let mayGoOn = CurlCallbacks.with(context) { $0.mayBeSent(over: ends) } == true
            return mayGoOn ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        nm_easy_setopt_ssl_ctx_callback(easy) { _, sslContext, context in
            guard let sslContext, let transfer = CurlCallbacks.transfer(context) else {
                return CURLE_ABORTED_BY_CALLBACK
            }
            return transfer.prepareTLS(sslContext) ? CURLE_OK : CURLE_ABORTED_BY_CALLBACK
        }
        nm_easy_setopt_opensocket_callback(easy) { context, _, address in
            CurlCallbacks.open(address, context)
        }
        nm_easy_setopt_closesocket_callback(easy) { context, socket in
            if let context { Unmanaged<Selector>.fromOpaque(context).takeUnretainedValue().forget(socket) }
            return close(socket)
        }
        nm_easy_setopt_progress_callback(easy) { context, downloadTotal, downloaded, uploadTotal, uploaded in
            CurlCallbacks.transfer(context)?.progressed(
                download: (Int64(downloaded), Int64(downloadTotal)),
                upload: (Int64(uploaded), Int64(uploadTotal))
            )
            return 0
        }
    }

    /// Puts the fields behind the content into a list, which libcurl frees.
    /// - Returns: False when there is no memory, or no transfer any more.
    static func addTrailers(
        to list: UnsafeMutablePointer<UnsafeMutablePointer<curl_slist>?>?,
        _ context: UnsafeMutableRawPointer?
    ) -> Bool {
        guard let list, case .channel(let channel) = transfer(context)?.plan.body else { return false }
        for field in channel.trailers.fields {
            guard let longer = curl_slist_append(list.pointee, "\(field.name): \(field.value)") else {
                return false
            }
            list.pointee = longer
        }
        return true
    }

    static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        guard let context else { return nil }
        return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().transfer
    }

    /// Calls a closure with the transfer, which the handle holds meanwhile; nil when there is none any more.
    @inline(__always)
    static func with<Result>(_ context: UnsafeMutableRawPointer?, _ body: (Transfer) -> Result) -> Result? {
        guard let context else { return nil }
        return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
            handle.callee?._withUnsafeGuaranteedRef(body)
        }
    }

    /// Opens a socket that no child process inherits.
    private static func open(
        _ address: UnsafeMutablePointer<curl_sockaddr>?,
        _ context: UnsafeMutableRawPointer?
    ) -> curl_socket_t {
        // −1 is CURL_SOCKET_BAD, which Swift does not import.
        guard let pointer = address, let context else { return -1 }
        let remote = withUnsafePointer(to: &pointer.pointee.addr) { IPAddress($0) }
        guard CurlCallbacks.transfer(context)?.mayConnect(to: remote) == true else { return -1 }
        let address = pointer.pointee
        let kind = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, kind, address.protocol)
        if descriptor >= 0 {
            let handle = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
            handle.selector.adopt(descriptor, isLayered: handle.transfer?.proxy.policy != nil)
        }
        return descriptor
    }
}

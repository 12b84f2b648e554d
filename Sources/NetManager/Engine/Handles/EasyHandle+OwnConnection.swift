import CCurl
import CCurlShims

/// Connections that serve one request.
extension EasyHandle {
    /// Whether the connection is closed when the transfer ends, however that is.
    ///
    /// While a server may still refuse the client's certificate, a request that cannot be sent would leave the broken
    /// connection among the idle ones. When libcurl closes it, it reads what the server said last: the alert with the
    /// reason. Without this, one refusal of five was reported as a broken connection.
    func closeAfterUse(_ closes: Bool) {
        let closes = closes || applied.hasOwnConnection
        guard applied.closesAfterUse != closes else { return }
        applied.closesAfterUse = closes
        nm_easy_setopt_long(pointer, CURLOPT_FORBID_REUSE, closes ? 1 : 0)
    }

    /// Gives the request a connection that carries no other one, before it or after it, or at the same time.
    ///
    /// An answer to a challenge, where several schemes are allowed, has libcurl look for a connection again: without TLS,
    /// where no lane keeps it away, it may find one that is idle and has carried requests without credentials. It serves
    /// nobody afterwards, as any other.
    /// A server takes whatever comes over a connection on which Negotiate has proven a user for that user's, and libcurl
    /// looks at users only where NTLM is concerned (up to 8.18, CVE-2026-1965): a request without credentials was answered
    /// as the user before it. Over HTTP/2 libcurl keeps one state of Negotiate for all streams, so that of many users at
    /// once some were refused. The connection stays while a handshake goes on over several responses.
    func keepToOwnConnection(_ isOwn: Bool) throws(TransferFailure) {
        guard applied.hasOwnConnection != isOwn else { return }
        // Half of it must not stay: neither a connection that is kept, nor a handle that closes all of them.
        isWornOut = true
        try set(CURLOPT_FRESH_CONNECT, isOwn ? 1 : 0)
        try set(CURLOPT_HTTP_VERSION, Int(isOwn ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS))
        applied.hasOwnConnection = isOwn
        closeAfterUse(false)
        isWornOut = false
    }
}

extension EasyHandle {
    /// Makes a connection for the transfer under way, the last one that the handle carries.
    func connectAnew() throws(TransferFailure) {
        isWornOut = true
        try set(CURLOPT_FRESH_CONNECT, 1)
    }
}

extension Authentication.Schemes {
    /// Whether one of the schemes proves the user of a whole connection, and libcurl does not keep others from it.
    var proveConnection: Bool { contains(.negotiate) }
}

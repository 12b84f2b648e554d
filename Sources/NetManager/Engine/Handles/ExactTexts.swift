/// What a handle may take for told already when it compares equal.
///
/// Swift compares texts by canonical equivalence, so é is equal to e with an accent behind it; libcurl, file systems
/// and servers compare bytes. Texts in ASCII are equal only when their bytes are; others are told again each time.
extension String {
    fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

extension Authentication {
    /// Whether equal credentials are the same bytes.
    var isASCII: Bool { user.isASCII && password.isASCII }
}

extension ResolvedProxy {
    /// Whether equal proxies are the same bytes.
    var isASCII: Bool {
        url.isASCII
            && (credentials.map { $0.user.isASCII && $0.password.isASCII } ?? true)
    }
}

extension ConnectionOptions {
    /// Whether equal options are the same bytes; the proxy is compared by itself.
    var isASCII: Bool {
        unixSocketPath?.isASCII ?? true && localInterface?.isASCII ?? true
            && overrides.allSatisfy { $0.host.isASCII && $0.toHost.isASCII }
    }
}

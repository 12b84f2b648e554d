import CCurl
import CCurlShims

extension EasyHandle {
    /// Tells the handle how to connect.
    func applyConnection(_ options: ConnectionOptions, proxy: ResolvedProxy) throws(TransferFailure) {
        if applied.proxy != proxy || !proxy.isASCII {
            applied.proxy = nil
            try apply(proxy)
            applied.proxy = proxy
        }
        guard applied.connection != options || !options.isASCII else { return }
        applied.connection = nil
        try set(CURLOPT_UNIX_SOCKET_PATH, options.unixSocketPath)
        try set(CURLOPT_INTERFACE, options.localInterface)
        let resolve =
            switch options.addressFamily {
            case .any: CURL_IPRESOLVE_WHATEVER
            case .ipv4: CURL_IPRESOLVE_V4
            case .ipv6: CURL_IPRESOLVE_V6
            }
        try set(CURLOPT_IPRESOLVE, Int(resolve))
        let version =
            switch options.minimumTLSVersion {
            case .tls12: CURL_SSLVERSION_TLSv1_2
            case .tls13: CURL_SSLVERSION_TLSv1_3
            }
        // libcurl compares it when it looks for a connection or a session to use again.
        try set(CURLOPT_SSLVERSION, Int(version))
        try set(CURLOPT_PROXY_SSLVERSION, Int(version))
        var lines = CurlList()
        for override in options.overrides { try lines.append(try override.line) }
        let list = lines.take()
        let code = nm_easy_setopt_slist(pointer, CURLOPT_CONNECT_TO, list)
        curl_slist_free_all(connectToList)
        connectToList = list
        try check(code, CURLOPT_CONNECT_TO)
        applied.connection = options
    }

    /// Lets the transfer see what a proxy answers to the request for a tunnel.
    ///
    /// That looks like the head of a response, so it ends when the request begins: libcurl may make a tunnel anew later.
    func showAnswerToTunnel(_ shows: Bool) {
        guard applied.showsAnswerToTunnel != shows else { return }
        applied.showsAnswerToTunnel = shows
        nm_easy_setopt_long(pointer, CURLOPT_SUPPRESS_CONNECT_HEADERS, shows ? 0 : 1)
    }

    private func apply(_ proxy: ResolvedProxy) throws(TransferFailure) {
        try set(CURLOPT_PROXY, proxy.url)
        try set(CURLOPT_PROXYUSERNAME, proxy.credentials?.user)
        try set(CURLOPT_PROXYPASSWORD, proxy.credentials?.password)
        try set(CURLOPT_PROXYAUTH, Self.bits(of: proxy.credentials?.schemes ?? .basic))
        guard let policy = proxy.policy else { return }
        // As for servers (EasyHandle+Options): libcurl must ask, loads nothing, and keeps policies apart.
        try set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        try set(CURLOPT_PROXY_SSL_VERIFYHOST, policy.validatesDomainName ? 2 : 0)
        try set(CURLOPT_PROXY_CAINFO, nil)
        try set(CURLOPT_PROXY_CAPATH, nil)
        let (code, option) = PolicyMarker.put(policy.policyID, on: pointer, for: .proxy)
        try check(code, option)
    }
}

extension ConnectionOptions.Override {
    /// `HOST:PORT:CONNECT-TO-HOST:CONNECT-TO-PORT` (CURLOPT_CONNECT_TO).
    fileprivate var line: String {
        get throws(TransferFailure) {
            guard !(host + toHost).contains(where: { $0.isWhitespace || $0 == "," || $0.isNewline }),
                !toHost.isEmpty
            else {
                throw .invalidConfiguration("an override needs a host to connect to, without white space")
            }
            func bracketed(_ host: String) -> String {
                host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            }
            func text(_ port: Int?) -> String { port.map(String.init) ?? "" }
            return "\(bracketed(host)):\(text(port)):\(bracketed(toHost)):\(text(toPort))"
        }
    }
}

import FoundationEssentials
import HTTPMessage
import Locks

/// What the threads of a ``ProxyPeer`` share.
final class ProxyCore: Sendable {
    let log = ServerLog()
    let passages = Guarded<[ProxyPeer.Passage]>([])
    let refusals = Guarded(0)
    let authorizations = Guarded<[String?]>([])
    private let kind: ProxyPeer.Kind
    private let tls: TLSContext?
    private let asks: ProxyPeer.Asks?
    private let refusal: Int?
    private let patience: Duration

    init(
        kind: ProxyPeer.Kind,
        tls: TLSContext?,
        asks: ProxyPeer.Asks?,
        refusal: Int?,
        patience: Duration
    ) {
        self.kind = kind
        self.patience = patience
        self.tls = tls
        self.asks = asks
        self.refusal = refusal
    }

    var service: SocketServer.Service {
        SocketServer.Service(
            accepted: { [log] in log.accepted($0) },
            serve: { [self] descriptor, id, stop in
                let wire = Wire(descriptor: descriptor, id: id, log: log)
                // What fails here ends the connection; the client sees that and the test counts it.
                try? serve(wire, id, stop)
                wire.free()
            },
            ended: { [log] in log.ended($0) }
        )
    }

    private func serve(_ wire: Wire, _ id: Int, _ stop: Gate) throws {
        if let tls { try wire.handshake(tls) }
        if case .socks5 = kind {
            try serveSOCKS(wire, stop)
        } else {
            try serveHTTP(wire, id, stop)
        }
    }

    private func serveHTTP(_ wire: Wire, _ id: Int, _ stop: Gate) throws {
        var reader = RequestReader(wire: wire, options: ServerOptions())
        var index = 0
        while let request = try reader.head(connection: id, index: index) {
            index += 1
            log.headRead(on: id)
            guard isAllowed(request) else {
                refusals.withLock { $0 += 1 }
                let field = challenge.map { "Proxy-Authenticate: \($0)\r\n" } ?? ""
                let text = "HTTP/1.1 407 Proxy Authentication Required\r\n\(field)"
                try wire.write((text + "Content-Length: 0\r\n\r\n").utf8)
                continue
            }
            if let refusal {
                try wire.write("HTTP/1.1 \(refusal) Refused\r\nContent-Length: 0\r\n\r\n".utf8)
                continue
            }
            return try pass(request, wire, reader, stop)
        }
    }

    private func isAllowed(_ request: ReceivedRequest) -> Bool {
        let field = request.headers["Proxy-Authorization"]
        authorizations.withLock { $0.append(field) }
        switch asks {
        case nil: return true
        case .basic(let credentials):
            let token = Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString()
            return field == "Basic \(token)"
        case .digest(let digest):
            let targets = [request.target, Self.path(of: request.target)]
            return digest.accepts(field, method: request.method, targets: targets)
        case .impossible: return false
        }
    }

    /// What libcurl names in a proof for a proxy, where the target is a URL.
    private static func path(of target: String) -> String {
        let parts = target.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return "/" + (parts.count == 4 ? parts[3] : "")
    }

    private var challenge: String? {
        switch asks {
        case nil: nil
        case .basic: "Basic realm=\"proxy\""
        case .digest(let digest): digest.challenge()
        case .impossible(let text): text
        }
    }

    /// Opens the way for one request: a tunnel, or the request itself on a connection that ends behind it.
    private func pass(_ request: ReceivedRequest, _ wire: Wire, _ reader: RequestReader, _ stop: Gate) throws
    {
        let isTunnel = request.method == "CONNECT"
        var authority = request.target[...]
        var path = "/"
        if !isTunnel {
            guard authority.hasPrefix("http://") else { throw Wire.Ended() }
            authority = authority.dropFirst(7)
            if let slash = authority.firstIndex(of: "/") {
                path = String(authority[slash...])
                authority = authority[..<slash]
            }
        }
        let sides = authority.split(separator: ":")
        guard let host = sides.first, let port = sides.count > 1 ? Int(sides[1]) : 80 else {
            throw Wire.Ended()
        }
        record(isTunnel ? .connect : .forward, String(host), port, request.headers)
        let relay = try Relay(to: port, client: wire, stop: stop, patience: patience)
        if isTunnel {
            try wire.write("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
        } else {
            var headers = request.headers
            for name in ["Proxy-Authorization", "Proxy-Connection", "Connection"] { headers.remove(name) }
            headers.add("close", for: "Connection")
            let fields = headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            try relay.send("\(request.method) \(path) HTTP/1.1\r\n\(fields)\r\n".utf8)
        }
        try relay.run(first: reader.buffered)
    }

    /// RFC 1928, and RFC 1929 for the password.
    private func serveSOCKS(_ wire: Wire, _ stop: Gate) throws {
        guard try wire.take(1) == [5] else { throw Wire.Ended() }
        let methods = try wire.takeCounted()
        let credentials: ProxyPeer.Credentials? = if case .basic(let some) = asks { some } else { nil }
        let wanted: UInt8 = credentials == nil ? 0 : 2
        guard methods.contains(wanted) else {
            refusals.withLock { $0 += 1 }
            return try wire.write([5, 0xFF])
        }
        try wire.write([5, wanted])
        if let credentials {
            guard try wire.take(1) == [1] else { throw Wire.Ended() }
            let user = try wire.takeCounted()
            let password = try wire.takeCounted()
            let isRight = user == Array(credentials.user.utf8) && password == Array(credentials.password.utf8)
            try wire.write([1, isRight ? 0 : 1])
            guard isRight else { return refusals.withLock { $0 += 1 } }
        }
        let head = try wire.take(4)
        guard head[0] == 5, head[1] == 1 else { throw Wire.Ended() }
        let host: String
        switch head[3] {
        case 1: host = try wire.take(4).map { String($0) }.joined(separator: ".")
        case 3: host = String(decoding: try wire.takeCounted(), as: UTF8.self)
        case 4:
            _ = try wire.take(16)
            host = "::1"
        default: throw Wire.Ended()
        }
        let port = try wire.take(2).reduce(0) { $0 << 8 | Int($1) }
        guard refusal == nil else { return try wire.write([5, 2, 0, 1, 0, 0, 0, 0, 0, 0]) }
        record(.socks(byName: head[3] == 3), host, port, [:])
        let relay = try Relay(to: port, client: wire, stop: stop, patience: patience)
        try wire.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        try relay.run(first: [])
    }

    private func record(_ means: ProxyPeer.Passage.Means, _ host: String, _ port: Int, _ headers: HTTPHeaders)
    {
        let passage = ProxyPeer.Passage(means: means, host: host, port: port, headers: headers)
        passages.withLock { $0.append(passage) }
    }
}

extension Wire {
    /// Exactly so many bytes.
    fileprivate func take(_ count: Int) throws(Ended) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                self.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            }
            guard read > 0 else { throw Ended() }
            filled += read
        }
        return bytes
    }

    /// Bytes behind a byte that counts them.
    fileprivate func takeCounted() throws(Ended) -> [UInt8] {
        try take(Int(take(1)[0]))
    }
}

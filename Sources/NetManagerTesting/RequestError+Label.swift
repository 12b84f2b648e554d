import NetManager

extension RequestError.Kind {
    /// The failures of connections, which a recording can hold: no other kind carries so little.
    private static let ofConnections: [Self] =
        [
            .nameNotResolved, .cannotConnect, .proxyFailed, .tlsFailed, .clientCertificateRefused,
            .connectionLost, .outcomeUnknown, .protocolError,
        ]
        + [RequestError.Phase.queue, .resolve, .connect, .tls, .send, .firstByte, .idle, .total].map {
            .timedOut($0)
        }

    private static let byLabel = Dictionary(
        uniqueKeysWithValues: ofConnections.map { (RequestError($0, method: .get, url: "").label, $0) }
    )

    /// The failure of a connection that has this label; nil for all others.
    init?(label: String) {
        guard let kind = Self.byLabel[label] else { return nil }
        self = kind
    }
}

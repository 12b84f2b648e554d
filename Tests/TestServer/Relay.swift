import Glibc

/// Carries bytes both ways between a proxy's client and a port of 127.0.0.1, on the client's thread.
///
/// A side that does not read holds the other direction up too; enough for tests, whose sides take turns.
final class Relay {
    private let upstream: PlainClient
    private let client: Wire
    private let stop: Gate
    /// How long the upstream must be silent before what it sent is passed on; zero for at once.
    private let patience: Duration

    init(to port: Int, client: Wire, stop: Gate, patience: Duration = .zero) throws(ServerError) {
        self.patience = patience
        upstream = try PlainClient(port: port)
        self.client = client
        self.stop = stop
    }

    func send(_ bytes: some Sequence<UInt8>) throws(Wire.Ended) {
        guard upstream.send(bytes) else { throw Wire.Ended() }
    }

    /// Runs until one side ends; what the client sent already goes first.
    func run(first: [UInt8]) throws(Wire.Ended) {
        try send(first)
        var scratch = [UInt8](repeating: 0, count: 65_536)
        while true {
            let (fromClient, fromUpstream) = try waitForInput()
            if fromClient {
                let count = scratch.withUnsafeMutableBytes { client.read(into: $0) }
                guard count > 0 else { return }
                try send(scratch[..<count])
            }
            if fromUpstream {
                let count = recv(upstream.descriptor, &scratch, scratch.count, 0)
                guard count > 0 else { return client.endInGoodOrder() }
                try client.write(scratch[..<gather(into: &scratch, behind: count)])
            }
        }
    }

    /// Waits for what follows soon, as far as it fits into one record of TLS.
    /// - Returns: How many bytes there are now.
    private func gather(into scratch: inout [UInt8], behind count: Int) -> Int {
        var filled = count
        while patience > .zero, filled < 16_384, upstream.hasAnswerOrEnd(within: patience) {
            let more = scratch.withUnsafeMutableBytes {
                recv(upstream.descriptor, $0.baseAddress.map { $0 + filled }, 16_384 - filled, 0)
            }
            guard more > 0 else { break }
            filled += more
        }
        return filled
    }

    private func waitForInput() throws(Wire.Ended) -> (client: Bool, upstream: Bool) {
        if client.hasInput(within: .zero) { return (true, false) }
        var entries = [client.descriptor, upstream.descriptor, stop.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while poll(&entries, nfds_t(entries.count), -1) < 0 {
            guard errno == EINTR else { throw Wire.Ended() }
        }
        guard entries[2].revents == 0 else { throw Wire.Ended() }
        return (entries[0].revents != 0, entries[1].revents != 0)
    }
}

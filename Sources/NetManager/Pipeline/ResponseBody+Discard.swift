import FoundationEssentials

extension ResponseBody {
    /// The content when it has been read already; nil when it is still to come.
    var dataInMemory: Data? {
        if case .data(let data) = storage { data } else { nil }
    }

    /// Lets go of a content that nobody wants.
    ///
    /// A short one is read to its end, so that the connection can be used again: 64 KiB are read faster than a new
    /// connection is made. A longer one, or one that takes longer than a new connection would, ends with its
    /// connection: nobody waits for a server that lets it drip.
    func discard() async {
        guard case .channel(let reader) = storage else { return }
        let guardian = Task.detached {
            try await Task.sleep(for: .milliseconds(250), clock: .continuous)
            reader.abandon()
        }
        defer { guardian.cancel() }
        var left = 64 << 10
        while left > 0 {
            guard let piece = try? await reader.nextUndecoded() else { return }
            left -= piece.count
        }
        reader.abandon()
    }

    /// Ends the transfer if it has not ended.
    func abandon() {
        if case .channel(let reader) = storage { reader.abandon() }
    }
}

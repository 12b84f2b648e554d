import Locks

/// The URLs that were read lately: reading one is a tenth of what a small request costs here, and services ask the same
/// ones again and again.
///
/// URLs with a query are not kept: they seldom come twice, and there may be secrets in them.
struct CheckedURLs: Sendable {
    private struct Entry {
        let text: String
        let url: RequestRules.CheckedURL
    }

    /// As many as a service has endpoints, and as four bits tell apart; a text has one place, from which it drives away
    /// what was there.
    private static let count = 16

    private let entries = Guarded([Entry?](repeating: nil, count: count))

    /// A URL of this text, if it was read lately.
    func url(_ text: String) -> RequestRules.CheckedURL? {
        let place = CheckedURLs.place(of: text)
        return entries.withLock { entries in
            guard let entry = entries[place], entry.text == text else { return nil }
            return entry.url
        }
    }

    /// Keeps a URL that was read.
    func keep(_ url: RequestRules.CheckedURL, for text: String) {
        guard !text.utf8.contains(UInt8(ascii: "?")) else { return }
        let entry = Entry(text: text, url: url)
        let before = entries.withLock { entries in
            let before = entries[CheckedURLs.place(of: text)]
            entries[CheckedURLs.place(of: text)] = entry
            return before
        }
        // Let go of after the lock.
        withExtendedLifetime(before) {}
    }

    /// Where texts differ is mostly their end.
    private static func place(of text: String) -> Int {
        let end = text.utf8.withContiguousStorageIfAvailable { bytes -> UInt64? in
            guard bytes.count >= 8 else { return nil }
            let raw = UnsafeRawBufferPointer(bytes)
            return raw.loadUnaligned(fromByteOffset: raw.count - 8, as: UInt64.self)
        }
        guard let end = end ?? nil else { return 0 }
        // The upper bits of the product depend on all of the bytes.
        return Int(truncatingIfNeeded: (end &* 0x9E37_79B9_7F4A_7C15) >> 60)
    }
}

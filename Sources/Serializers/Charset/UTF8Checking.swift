extension UnsafeBufferPointer<UInt8> {
    /// How many bytes encode the scalar above ASCII that begins at an index (RFC 3629, section 4); 0 when they are not
    /// UTF-8: none of them is a surrogate, above U+10FFFF, or longer than it must be.
    ///
    /// The standard library's check takes twice as long where characters above ASCII are many.
    @inline(__always)
    func lengthOfUTF8Scalar(at index: Int) -> Int {
        guard count - index >= 4 else { return lengthOfLastUTF8Scalar(at: index) }
        // Four bytes, the first one lowest.
        let word = UInt32(
            littleEndian: UnsafeRawBufferPointer(self).loadUnaligned(fromByteOffset: index, as: UInt32.self)
        )
        if word & 0x0000_C0E0 == 0x0000_80C0 { return word & 0x1E != 0 ? 2 : 0 }
        if word & 0x00C0_C0F0 == 0x0080_80E0 {
            return word & 0x200F != 0 && word & 0x200F != 0x200D ? 3 : 0
        }
        if word & 0xC0C0_C0F8 == 0x8080_80F0 {
            return word & 0x3007 != 0 && (word & 0x04 == 0 || word & 0x3003 == 0) ? 4 : 0
        }
        return 0
    }

    /// The same where less than four bytes are left.
    private func lengthOfLastUTF8Scalar(at index: Int) -> Int {
        let room = count - index
        switch self[index] {
        case 0xC2...0xDF:
            return room >= 2 && isContinuation(index + 1) ? 2 : 0
        case 0xE0...0xEF:
            guard room >= 3, isContinuation(index + 1), isContinuation(index + 2) else { return 0 }
            let second = self[index + 1]
            if self[index] == 0xE0, second < 0xA0 { return 0 }
            if self[index] == 0xED, second >= 0xA0 { return 0 }
            return 3
        default:
            return 0
        }
    }

    @inline(__always)
    private func isContinuation(_ index: Int) -> Bool {
        self[index] & 0xC0 == 0x80
    }

    /// The offset of the first byte that is not UTF-8; nil when all are.
    var firstInvalidUTF8Offset: Int? {
        do {
            _ = try UTF8Span(validating: span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }
}

import FoundationEssentials
import Glibc

extension Data {
    /// Writes all bytes to a descriptor, however few it takes at a time.
    ///
    /// - Returns: Whether they are written; if not, `errno` says why.
    func write(toDescriptor descriptor: Int32) -> Bool {
        withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    descriptor,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}

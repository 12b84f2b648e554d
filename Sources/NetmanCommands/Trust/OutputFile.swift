import FoundationEssentials
import Glibc

/// A file that a command makes: all of it, or nothing.
struct OutputFile {
    var path: String
    /// Whether a file that is there may be replaced.
    var replaces = false
    var mode: mode_t = 0o644

    /// Writes the file in one step.
    ///
    /// - Throws: ``CommandFailure``, when there is such a file already or the folder cannot be written.
    func write(_ data: Data) throws(CommandFailure) {
        var template = Array((path + ".XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure("cannot be made") }
        let temporary = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { unlink(temporary) }
        let isComplete =
            data.write(toDescriptor: descriptor) && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        guard close(descriptor) == 0, isComplete else { throw failure("cannot be written") }
        // link(2) does not replace, and says so; rename(2) does.
        guard replaces else {
            guard link(temporary, path) == 0 else {
                let isThere = errno == EEXIST
                throw isThere
                    ? CommandFailure(message: "\(path) is there already; --force replaces it")
                    : failure("cannot be made")
            }
            return
        }
        guard rename(temporary, path) == 0 else { throw failure("cannot be replaced") }
    }

    private func failure(_ what: String) -> CommandFailure {
        let reason = String(cString: strerror(errno))
        return CommandFailure(message: "\(path) \(what): \(reason)")
    }
}

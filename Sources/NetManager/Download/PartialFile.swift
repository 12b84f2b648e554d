import FoundationEssentials
import Glibc

/// The file that a download writes to until it is complete: in the target's folder, under another name.
///
/// One task uses it at a time. Going away without ``finish(replacing:)`` removes it, unless it is kept for later.
final class PartialFile: Sendable {
    /// Where the content is to be in the end.
    let target: String
    /// Where it is until then.
    let path: String
    /// Open for reading and writing.
    private let descriptor: Int32

    /// Opens the file.
    /// - Parameters:
    ///   - target: The path that the content is to have.
    ///   - isResumable: Whether what an earlier download left is taken over; otherwise the name is a new one.
    ///   - permissions: Who may do what with it, less what the process's mask takes away.
    /// - Throws: ``FileProblem``, with the system's reason.
    init(target: String, isResumable: Bool, permissions: mode_t = 0o666) throws(FileProblem) {
        self.target = target
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
        guard isResumable else {
            // Independent of the target's name, which may be as long as the file system allows.
            let folder = PartialFile.folder(of: target)
            path = folder + ".netmanager-" + String(UInt64.random(in: .min ... .max), radix: 36) + ".download"
            let opened = open(path, flags | O_EXCL, permissions)
            guard opened >= 0 else { throw FileProblem(target) }
            descriptor = opened
            return
        }
        path = target + ".download"
        let opened = open(path, flags, permissions)
        guard opened >= 0 else { throw FileProblem(path) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            close(opened)
            throw FileProblem(path, "another download writes to it")
        }
        // Last, since an object that is complete is closed by `deinit` even where `init` throws.
        descriptor = opened
    }

    /// Takes over a descriptor, for tests.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
        target = path
    }

    deinit {
        // Closing alone would leave the lock to a program that is being started at this moment, until it has closed its copy
        // of the descriptor: whoever resumes at once would find the file in use.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The folder of a path, with its slash; empty for the working directory.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// What must be so before anything is asked of a server.
    static func check(_ target: String, _ options: DownloadOptions) throws(FileProblem) {
        guard !target.isEmpty, !target.hasSuffix("/"), !target.utf8.contains(0) else {
            throw FileProblem(target, "no path of a file")
        }
        let folder = folder(of: target)
        if options.createsFolders, !folder.isEmpty {
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                throw FileProblem(folder, "the folder cannot be made")
            }
        }
        var status = Glibc.stat()
        if !folder.isEmpty, stat(folder, &status) != 0, errno == ENOENT {
            throw FileProblem(folder, "there is no such folder; make it, or set createsFolders")
        }
        guard lstat(target, &status) == 0 else { return }
        guard options.existingFile == .replace else {
            throw FileProblem(target, "there is such a file already")
        }
        if status.st_mode & S_IFMT == S_IFDIR { throw FileProblem(target, "it is a folder") }
    }

    /// The length at this moment.
    var size: Int64 {
        get throws(FileProblem) {
            var status = Glibc.stat()
            guard fstat(descriptor, &status) == 0 else { throw FileProblem(path) }
            return Int64(status.st_size)
        }
    }

    /// Throws away everything behind a length and goes on writing there.
    func truncate(to size: Int64) throws(FileProblem) {
        guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) >= 0 else {
            throw FileProblem(path)
        }
    }

    /// Writes bytes behind those before.
    func write(_ bytes: Data) throws(FileProblem) {
        let problem: FileProblem? = bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let room = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, room.baseAddress, room.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count < 0, errno != EINTR {
                    return FileProblem(path)
                }
            }
            return nil
        }
        if let problem { throw problem }
    }

    /// The digest of the whole content.
    func sha256() throws(FileProblem) -> String {
        guard let digest = FileDigest.sha256(of: descriptor) else { throw FileProblem(path) }
        return digest
    }

    /// Puts what was written onto the disk.
    func synchronize() throws(FileProblem) {
        // Errors of writes that were put off, as on full network drives, come out here.
        guard fsync(descriptor) == 0 else { throw FileProblem(path) }
    }

    /// Gives the complete file its name, in one step, so that nobody ever sees a part of it there.
    func finish(_ existing: DownloadOptions.ExistingFile) throws(FileProblem) {
        try synchronize()
        switch existing {
        case .replace:
            guard rename(path, target) == 0 else { throw FileProblem(target) }
        case .fail:
            // Unlike a rename, a link fails when the name is taken.
            guard link(path, target) == 0 else { throw FileProblem(target) }
            unlink(path)
        }
        let folder = PartialFile.folder(of: target)
        let opened = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return }
        // The name is there; whether it outlives a power cut is all that this can add.
        fsync(opened)
        close(opened)
    }

    /// Removes the file.
    func remove() {
        unlink(path)
    }
}

/// What the system says against a file.
struct FileProblem: Error, Hashable {
    let path: String
    let reason: String

    init(_ path: String, _ reason: String) {
        self.path = path
        self.reason = reason
    }

    /// The reason of the call that failed last.
    init(_ path: String) {
        self.init(path, String(cString: strerror(errno)))
    }
}

import Glibc
import TestServer
import Testing

@testable import NetManager

/// Downloads into files, over real connections.
@Suite struct DownloadTests {
    private let folder: TemporaryFolder
    private let manager = HTTPSessionManager(CurlTransport())

    init() throws {
        folder = try TemporaryFolder()
    }

    private var target: String { folder.path + "/file" }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private func content(_ name: String = "file") -> String? {
        FileManager.default.contents(atPath: folder.path + "/" + name).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func write(_ text: String, _ name: String = "file") throws {
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/" + name))
    }

    @Test func `case 482, 523: a download becomes a file and leaves nothing beside it`() async throws {
        let server = try TestServer { _ in .bytes(1_000_000) }
        let file = try await manager.download(server.url(), to: target)
        #expect(file.size == 1_000_000)
        #expect(file.path == target)
        #expect(file.resumedFrom == 0)
        #expect(names == ["file"])
        #expect(content()?.utf8.count == 1_000_000)
        #expect(content()?.hasPrefix("abcdefghijklmnopqrstuvwxyz") == true)
    }

    @Test func `cases 488, 514: progress reaches the whole before success is called`() async throws {
        let server = try TestServer { _ in .bytes(3_000_000) }
        let seen = Shared<[TransferProgress]>([])
        let ended: Outcome<[TransferProgress]> = await outcome { success, failure in
            manager.download(
                server.url(),
                to: target,
                success: { task, _ in success(task, seen.value) },
                failure: failure,
                progress: { progress in seen.withLock { $0.append(progress) } }
            )
        }
        let last = try #require(ended.value?.last)
        #expect(last == TransferProgress(direction: .download, completed: 3_000_000, total: 3_000_000))
        #expect(last.fraction == 1)
        #expect(ended.value?.allSatisfy { $0.direction == .download } == true)
    }

    @Test func `report 55: a 404 is an error with its text and makes no file`() async throws {
        let server = try TestServer { _ in .text("gone", status: 404) }
        try write("old")
        let error = await requestError { _ = try await manager.download(server.url(), to: target) }
        #expect(error?.label == "status_4xx")
        #expect(error?.response.map { String(decoding: $0.body, as: UTF8.self) } == "gone")
        #expect(names == ["file"])
        #expect(content() == "old")
    }

    @Test func `report 55: an existing file is replaced, or refused when that is asked for`() async throws {
        let server = try TestServer { _ in .text("new") }
        try write("old")
        var settings = DownloadOptions()
        settings.existingFile = .fail
        let error = await requestError {
            _ = try await manager.download(server.url(), to: target, settings: settings)
        }
        #expect(error?.label == "file")
        #expect(server.counters.requests == 0)
        #expect(content() == "old")
        _ = try await manager.download(server.url(), to: target)
        #expect(content() == "new")
        #expect(names == ["file"])
    }

    @Test func `a file that appears meanwhile is not replaced when that is forbidden`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("new").holdingBody(until: gate) }
        var settings = DownloadOptions()
        settings.existingFile = .fail
        settings.verify = { [target] _ in
            try Data("other".utf8).write(to: URL(filePath: target))
        }
        gate.open()
        let error = await requestError {
            _ = try await manager.download(server.url(), to: target, settings: settings)
        }
        #expect(error?.label == "file")
        #expect(content() == "other")
        #expect(names == ["file"])
    }

    @Test(arguments: ["/a/b/c", "/proc/self/x", "", "/tmp/"])
    func `case 524, report 55: a place that cannot be written is an error before any traffic`(
        path: String
    ) async throws {
        let server = try TestServer { _ in .text("x") }
        let ended: Outcome<DownloadedFile> = await outcome { success, failure in
            manager.download(server.url(), to: path, success: success, failure: failure)
        }
        #expect(ended.error?.label == "file")
        #expect(server.counters.requests == 0)
    }

    @Test func `folders are made when that is asked for, and a folder is never replaced`() async throws {
        let server = try TestServer { _ in .text("x") }
        var settings = DownloadOptions()
        settings.createsFolders = true
        _ = try await manager.download(server.url(), to: folder.path + "/a/b/file", settings: settings)
        #expect(content("a/b/file") == "x")
        let error = await requestError {
            _ = try await manager.download(server.url(), to: folder.path + "/a")
        }
        #expect(error?.label == "file")
        let other = await requestError {
            _ = try await manager.download(server.url(), to: folder.path + "/c/d/file")
        }
        let reason = "\(folder.path)/c/d/: there is no such folder; make it, or set createsFolders"
        #expect(other.map { "\($0)".contains(reason) } == true)
    }

    @Test func `a full disk is an error that says so`() throws {
        let file = PartialFile(descriptor: open("/dev/full", O_WRONLY), path: "/dev/full")
        #expect(throws: FileProblem("/dev/full", String(cString: strerror(ENOSPC)))) {
            try file.write(Data(count: 100_000))
        }
    }

    @Test func `a content that breaks off leaves nothing behind`() async throws {
        let server = try TestServer { _ in Fault.truncatedBody(declaring: 100, sending: 10).answer }
        let error = await requestError { _ = try await manager.download(server.url(), to: target) }
        #expect(error?.label == "connection_lost")
        #expect(names.isEmpty)
    }

    @Test func `a cancelled download leaves nothing behind`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in
            .script([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .wait(gate)])
        }
        let ended: Outcome<DownloadedFile> = await outcome { success, failure in
            let task = manager.download(server.url(), to: target, success: success, failure: failure)
            Task {
                await gate.reached()
                task.cancel()
            }
        }
        #expect(ended.error?.label == "cancelled")
        #expect(names.isEmpty)
        gate.open()
    }

    @Test func `a content with the wrong digest does not become a file`() async throws {
        let server = try TestServer { _ in .text("abc") }
        var settings = DownloadOptions()
        // FIPS 180-2, appendix B.1.
        settings.sha256 = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"
        _ = try await manager.download(server.url(), to: target, settings: settings)
        #expect(content() == "abc")
        settings.sha256 = String(repeating: "0", count: 64)
        settings.resumes = true
        let error = await requestError {
            _ = try await manager.download(server.url(), to: folder.path + "/other", settings: settings)
        }
        #expect(error?.label == "file")
        #expect(names == ["file"])
    }

    @Test func `the caller's own check sees the whole content and may refuse it`() async throws {
        struct Refusal: Error {}
        let server = try TestServer { _ in .text("abc") }
        var settings = DownloadOptions()
        let seen = Shared("")
        settings.verify = { path in
            let data = FileManager.default.contents(atPath: path) ?? Data()
            seen.withLock { $0 = String(decoding: data, as: UTF8.self) }
            throw Refusal()
        }
        let error = await requestError {
            _ = try await manager.download(server.url(), to: target, settings: settings)
        }
        #expect(error?.label == "custom")
        #expect(seen.value == "abc")
        #expect(names.isEmpty)
    }

    @Test func `more than the limit is refused`() async throws {
        let server = try TestServer { _ in .bytes(1_000_000) }
        var settings = DownloadOptions()
        settings.sizeLimit = 500_000
        let error = await requestError {
            _ = try await manager.download(server.url(), to: target, settings: settings)
        }
        #expect(error?.label == "body_too_large")
        #expect(names.isEmpty)
    }

    @Test func `a part that nobody asked for is refused`() async throws {
        let server = try TestServer { _ in .text("x", status: 206).header("Content-Range", "bytes 0-0/9") }
        let error = await requestError { _ = try await manager.download(server.url(), to: target) }
        #expect(error?.label == "protocol_error")
        #expect(names.isEmpty)
    }

    @Test func `a download that resumes and a range of the caller's exclude each other, before any traffic`()
        async throws
    {
        let server = try TestServer { _ in .bytes(10) }
        var settings = DownloadOptions()
        settings.resumes = true
        let error = await requestError { [settings] in
            _ = try await manager.download(
                server.url(),
                headers: ["Range": "bytes=1-2"],
                to: target,
                settings: settings
            )
        }
        guard case .invalidRequest? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("Range") == true)
        #expect(server.counters.connections == 0)
        #expect(names.isEmpty)
    }

    @Test func `a folder that cannot be made is an error before any traffic`() async throws {
        let server = try TestServer { _ in .bytes(10) }
        try write("a file", "blocked")
        var settings = DownloadOptions()
        settings.createsFolders = true
        let error = await requestError { [settings] in
            _ = try await manager.download(server.url(), to: folder.path + "/blocked/x", settings: settings)
        }
        guard case .file(let reason)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("/blocked/: the folder cannot be made"))
        #expect(server.counters.connections == 0)
    }
}

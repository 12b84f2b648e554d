import FoundationEssentials
import HTTPMessage
import NetManager
import TestServer
import Testing

@testable import NetmanCommands

@Suite struct DownloadTests {
    @Test func `a download becomes a file, with a bar on the terminal`() async throws {
        let folder = try Workspace()
        let server = try TestServer { _ in .bytes(300_000) }
        let run = await NetmanRun(
            ["get", server.url("/big.bin"), "--download", "-o", folder.path("big.bin")],
            columns: 80
        )
        #expect(run.status == 0)
        #expect(try folder.read("big.bin").count == 300_000)
        #expect(run.errors.contains("100 % [####"))
        #expect(run.errors.hasSuffix("big.bin: 293.0 KiB\n"))
        let quiet = await NetmanRun(["get", server.url(), "--download", "-o", folder.path("quiet.bin")])
        #expect(!quiet.errors.contains("%"), "no bar without a terminal")
    }

    @Test func `a download that broke off is continued`() async throws {
        let folder = try Workspace()
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let server = try TestServer { request in
            var answer = Answer.data(content)
            answer.headers["ETag"] = "\"one\""
            guard let range = request.headers["Range"]?.dropFirst(6).dropLast(), let first = Int(range) else {
                answer.headers["Content-Length"] = "\(content.count)"
                answer.body = content.prefix(80_000)
                answer.framing = .asWritten
                answer.closesConnection = true
                return answer
            }
            answer.status = 206
            answer.body = content[first...]
            answer.headers["Content-Range"] = "bytes \(first)-\(content.count - 1)/\(content.count)"
            return answer
        }
        let arguments = ["get", server.url("/f"), "--download", "-o", folder.path("f")]
        #expect(await NetmanRun(arguments).status == 2)
        #expect(!folder.has("f"))
        let run = await NetmanRun(arguments)
        #expect(run.status == 0)
        #expect(run.errors.contains("of them from before"))
        #expect(try folder.read("f") == content)
    }

    @Test func `a file that is there stays, unless --force says otherwise`() async throws {
        let folder = try Workspace()
        try folder.write("precious", to: "f")
        let server = try TestServer { _ in .text("new") }
        let arguments = ["get", server.url("/f"), "--download", "-o", folder.path("f")]
        #expect(await NetmanRun(arguments).status == 2)
        #expect(try folder.read("f") == Data("precious".utf8))
        #expect(await NetmanRun(arguments + ["--force"]).status == 0)
        #expect(try folder.read("f") == Data("new".utf8))
    }

    @Test(arguments: [
        ("https://h/a/b.zip", "b.zip"), ("https://h/", "index"), ("https://h", "index"),
        ("https://h/a/..", "index"),
        ("https://h/a/%2E%2E", "index"), ("https://h/x/", "x"),
    ])
    func `the file's name is the URL's last part, and never leads elsewhere`(url: String, name: String) throws
    {
        #expect(NetmanCall.fileName(of: try #require(URL(string: url))) == name)
        #expect(!NetmanCall.fileName(of: try #require(URL(string: "https://h/a%2Fb"))).contains("/"))
    }

    @Test(arguments: [20, 40, 80, 200])
    func `the bar never is wider than the terminal`(width: Int) {
        let bar = ProgressBar(width: width)
        for completed: Int64 in [0, 1, 999_999, 5_000_000_000, .max] {
            for total: Int64? in [nil, 0, 1, 5_000_000_000, .max] {
                let progress = TransferProgress(direction: .download, completed: completed, total: total)
                for elapsed: Duration in [.zero, .milliseconds(1), .seconds(100_000)] {
                    #expect(bar.line(progress, elapsed: elapsed).count <= width)
                }
            }
        }
    }

    @Test func `the bar tells how much, how fast and how long`() {
        let half = TransferProgress(direction: .download, completed: 5 << 20, total: 10 << 20)
        let line = ProgressBar(width: 79).line(half, elapsed: .seconds(2))
        #expect(line.hasPrefix(" 50 % [####"))
        #expect(line.hasSuffix("5.0 MiB of 10.0 MiB  2.5 MiB/s  0:02"))
        #expect(line.count == 79)
    }
}

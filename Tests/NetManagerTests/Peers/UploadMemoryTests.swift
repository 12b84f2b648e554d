import FoundationEssentials
import Glibc
import NetManager
import TestServer
import Testing

/// How much memory an upload takes.
@Suite(.gunicorn) struct UploadMemoryTests {
    @Test func `a file of 64 MiB in a form is streamed at constant memory, compressed too`() async {
        // A process of its own: the peak belongs to the whole process, and other tests have theirs.
        await #expect(processExitsWith: .success) {
            let peer = try GunicornPeer(.reader)
            let folder = try TemporaryFolder()
            let path = folder.path + "/big.bin"
            try writeNumbers(64 << 20, to: path)
            let idle = try memory("VmRSS")
            // Writing 5 makes the present size the peak (proc(5)).
            try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
            for compression in [nil, RequestCompression.gzip] {
                var form = MultipartForm()
                form.append(Data("before".utf8), name: "before")
                try form.appendFile(at: path, name: "file")
                let manager = peer.manager { $0.requestCompression = compression }
                let json = try await manager.post("x", form: form)
                #expect(json["form"]?["php"] == ["before": "before"])
                #expect(json["files"]?[0]?["length"] == 67_108_864)
                #expect(
                    json["files"]?[0]?["digest"]
                        == "98dc891b284e4d84ac25b0c0a24fdbe39a7f0dbd643ad5e8aa06e02fc6258254"
                )
            }
            let growth = try memory("VmHWM") - idle
            try #require(growth <= 24 << 20, "\(growth) bytes above idle")
        }
    }
}

/// Writes the bytes 0…250 over and over: a length that is no power of two, so that no piece is like another.
private func writeNumbers(_ count: Int, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    let numbers = [UInt8](0...250)
    var left = count
    while left > 0 {
        let written = fwrite(numbers, 1, min(left, numbers.count), file)
        try #require(written > 0)
        left -= written
    }
}

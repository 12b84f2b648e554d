import FoundationEssentials
import HTTPMessage
import Testing

@testable import Serializers

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite struct MultipartFileTests {
    /// The path and the reason of a file error that the call throws.
    static func fileError(_ call: () async throws -> Void) async throws -> (path: String, reason: String) {
        let error = await #expect(throws: SerializationError.self) { try await call() }
        guard case .file(let path, let reason)? = error else {
            throw Unexpected(error: String(describing: error))
        }
        return (path, reason)
    }

    struct Unexpected: Error { let error: String }

    static func appendError(_ path: String) async throws -> (path: String, reason: String) {
        var form = MultipartForm()
        let error = try await fileError { try form.appendFile(at: path, name: "f") }
        #expect(form.isEmpty)
        return error
    }

    @Test func `case 377: a missing file is an error when it is appended`() async throws {
        let error = try await Self.appendError("/nope/nothing.bin")
        #expect(error.path == "/nope/nothing.bin")
        #expect(error.reason == "No such file or directory")
    }

    @Test func `cases 376, 401: a URL is no path`() async throws {
        let error = try await Self.appendError("https://example.com/a.jpg")
        #expect(error.reason.contains("URL"))
    }

    @Test func `case 400: an empty path is an error`() async throws {
        #expect(try await Self.appendError("").reason.contains("empty"))
    }

    @Test func `case 403: a directory is an error`() async throws {
        try await withTemporaryDirectory { directory in
            let error = try await Self.appendError(directory.path(percentEncoded: false))
            #expect(error.reason.contains("directory"))
        }
    }

    @Test func `a device is no file, and a path with NUL is none`() async throws {
        #expect(try await Self.appendError("/dev/zero").reason.contains("regular"))
        #expect(try await Self.appendError("/etc/hosts\u{0}.png").reason.contains("NUL"))
    }

    @Test(arguments: [-1, 1, -100])
    func `a file that changed its length is an error when it is sent`(change: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "f").path(percentEncoded: false)
            try binary(100).write(to: URL(filePath: path))
            var form = MultipartForm()
            try form.appendFile(at: path, name: "f")
            try binary(100 + change).write(to: URL(filePath: path))
            let error = try await Self.fileError { _ = try await form.encoded() }
            #expect(error.path == path)
            #expect(error.reason.contains("length"))
        }
    }

    @Test(arguments: [-70_000, 70_000])
    func `a file that changes its length while it is read is an error`(change: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "f").path(percentEncoded: false)
            try binary(200_000).write(to: URL(filePath: path))
            var form = MultipartForm()
            try form.appendFile(at: path, name: "f")
            let producer = form.producer()
            _ = try await producer.next()
            try #require(truncate(path, 200_000 + change) == 0)
            let error = try await Self.fileError { _ = try await producer.pieces() }
            #expect(error.reason.contains("length"))
        }
    }

    @Test func `a file that is gone when it is sent is an error`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "f").path(percentEncoded: false)
            try binary(10).write(to: URL(filePath: path))
            var form = MultipartForm()
            try form.appendFile(at: path, name: "f")
            try FileManager.default.removeItem(atPath: path)
            #expect(try await Self.fileError { _ = try await form.encoded() }.path == path)
        }
    }

    @Test func `case 365: the part of a certificate's file has the type of certificates`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "root.cer").path(percentEncoded: false)
            try binary(10).write(to: URL(filePath: path))
            var form = MultipartForm()
            try form.appendFile(at: path, name: "test")
            #expect(
                try await form.readParts().map(\.headers) == [
                    [
                        "Content-Disposition: form-data; name=\"test\"; filename=\"root.cer\"",
                        "Content-Type: application/x-x509-ca-cert",
                    ]
                ]
            )
        }
    }

    @Test func `case 391: files follow each other with the types of their extensions`() async throws {
        try await withTemporaryDirectory { directory in
            let png = directory.appending(path: "unicorn.png")
            let jpg = directory.appending(path: "rainbow.jpg")
            try MultipartStreamingTests.unicorn.write(to: png)
            try MultipartStreamingTests.rainbow.write(to: jpg)
            var form = MultipartForm()
            try form.appendFile(at: png.path(percentEncoded: false), name: "unicorn")
            try form.appendFile(at: jpg.path(percentEncoded: false), name: "rainbow")
            let parts = try await form.readParts()
            #expect(parts.map(\.body) == [MultipartStreamingTests.unicorn, MultipartStreamingTests.rainbow])
            #expect(
                parts.map(\.headers) == [
                    [
                        "Content-Disposition: form-data; name=\"unicorn\"; filename=\"unicorn.png\"",
                        "Content-Type: image/png",
                    ],
                    [
                        "Content-Disposition: form-data; name=\"rainbow\"; filename=\"rainbow.jpg\"",
                        "Content-Type: image/jpeg",
                    ],
                ]
            )
        }
    }

    @Test func `the caller's file name and type win`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "a.png").path(percentEncoded: false)
            try Data().write(to: URL(filePath: path))
            var form = MultipartForm()
            try form.appendFile(at: path, name: "f", fileName: "b.txt")
            try form.appendFile(at: path, name: "f", mimeType: "x/y")
            #expect(
                try await form.readParts().map(\.headers) == [
                    [
                        "Content-Disposition: form-data; name=\"f\"; filename=\"b.txt\"",
                        "Content-Type: text/plain",
                    ],
                    [
                        "Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"",
                        "Content-Type: x/y",
                    ],
                ]
            )
        }
    }

    @Test func `case 382: a file of 5 GB is announced in 64 bits and read in pieces`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "sparse").path(percentEncoded: false)
            try Data().write(to: URL(filePath: path))
            try #require(truncate(path, 5_000_000_000) == 0)
            var form = try MultipartForm(boundary: MultipartFramingTests.boundary)
            try form.appendFile(at: path, name: "f")
            var empty = try MultipartForm(boundary: MultipartFramingTests.boundary)
            empty.append(Data(), name: "f", fileName: "sparse", mimeType: MIMETypes.unknown)
            let overhead = try #require(empty.contentLength)
            #expect(form.contentLength == 5_000_000_000 + overhead)
            #expect(form.body().knownLength == 5_000_000_000 + overhead)
            let producer = form.producer()
            for _ in 0..<20 {
                #expect(try await producer.next()?.count == 65_536)
            }
        }
    }

    @Test func `cases 395, 397: a form written to a file has the bytes of the form in memory`() async throws {
        try await withTemporaryDirectory { directory in
            let (form, _) = try MultipartStreamingTests.mixedForm(in: directory)
            let output = directory.appending(path: "out").path(percentEncoded: false)
            try await form.write(toFile: output)
            #expect(try await Data(contentsOf: URL(filePath: output)) == form.encoded())
        }
    }

    @Test func `case 404: a file that is there already is left alone`() async throws {
        try await withTemporaryDirectory { directory in
            let output = directory.appending(path: "out").path(percentEncoded: false)
            try Data("mine".utf8).write(to: URL(filePath: output))
            var form = MultipartForm()
            form.append(Data("d".utf8), name: "d")
            let error = try await Self.fileError { try await form.write(toFile: output) }
            #expect(error.path == output)
            #expect(try Data(contentsOf: URL(filePath: output)) == Data("mine".utf8))
        }
    }

    @Test func `case 398: a form that fails half way leaves no file behind`() async throws {
        try await withTemporaryDirectory { directory in
            let output = directory.appending(path: "out").path(percentEncoded: false)
            var form = MultipartForm()
            form.appendStream(
                Pieces(pieces: [binary(10)]),
                length: 5,
                name: "s",
                fileName: "s",
                mimeType: "text/plain"
            )
            await #expect(throws: SerializationError.self) { try await form.write(toFile: output) }
            #expect(!FileManager.default.fileExists(atPath: output))
        }
    }
}

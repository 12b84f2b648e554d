import FormValues
import NetManager
import TestServer
import Testing

/// What the frameworks of other languages see of nested parameters, read by code that is not this project's Swift.
@Suite(.gunicorn) struct FormReaderPeerTests {
    /// Both kinds of framework read these out of `a[]`.
    private static let common: [JSONValue] = [
        ["a": "b"],
        ["text": "ü 日本 👩‍👩‍👧 &=+%/?#;", "empty": "", "flag": true, "off": false, "none": nil, "number": 1.5],
        ["list": [1, "two words", "&=", "+"]],
        ["map": ["one": 1, "two": ["three": ["four": "five"]]]],
        ["mixed": ["list": ["x", "y"], "map": ["list": ["z"]]]],
        ["objects": [["id": 1], ["id": 2], ["id": 3]]],
    ]
    /// Rails puts these together by their names, PHP does not.
    private static let rails: [JSONValue] = [
        ["objects": [["id": 1, "name": "x"], ["id": 2, "name": "y"]]],
        ["deep": ["objects": [["id": 1, "tags": ["a", "b"]], ["id": 2, "tags": ["c"]]]]],
    ]
    /// PHP needs the numbers for these; Rails reads numbers as names.
    private static let php: [JSONValue] =
        rails + [["lists": [["a", "b"], ["c"]]], ["list": [["x": [["y": 1, "z": 2]]]]]]

    private func readings(
        of parameters: JSONValue,
        _ style: FormArrayStyle
    ) async throws -> [(way: String, seen: JSONValue?)] {
        var serializer = FormRequestSerializer()
        serializer.arrayStyle = style
        let manager = try GunicornPeer.reader.manager { [serializer] in $0.requestSerializer = serializer }
        var form = MultipartForm()
        try form.prepend(parameters: parameters, arrayStyle: style)
        return [
            ("query", try await manager.get("x", parameters: parameters)["query"]),
            ("form", try await manager.post("x", parameters: parameters)["form"]),
            ("multipart", try await manager.post("x", form: form)["form"]),
        ]
    }

    @Test(arguments: common + rails)
    func `Rails sees the same nesting`(parameters: JSONValue) async throws {
        for (way, seen) in try await readings(of: parameters, .brackets) {
            #expect(seen?["rails"] == parameters.asTexts, "\(way)")
        }
    }

    @Test(arguments: common)
    func `PHP sees the same nesting`(parameters: JSONValue) async throws {
        for (way, seen) in try await readings(of: parameters, .brackets) {
            #expect(seen?["php"] == parameters.asTexts, "\(way)")
        }
    }

    @Test(arguments: common + php)
    func `PHP sees the same nesting by numbers`(parameters: JSONValue) async throws {
        for (way, seen) in try await readings(of: parameters, .indexed) {
            #expect(seen?["php"] == parameters.asTexts, "\(way)")
        }
    }
}

/// Bodies whose coding is undone by Python's zlib.
@Suite(.gunicorn) struct RequestCompressionPeerTests {
    private static let codings: [RequestCompression] = [.gzip, .deflate]
    private let text = String(repeating: "two words ", count: 1_000)

    @Test(arguments: codings)
    func `a compressed form is read`(compression: RequestCompression) async throws {
        let manager = try GunicornPeer.reader.manager { $0.requestCompression = compression }
        let json = try await manager.post("x", parameters: ["a": [.string(text)]])
        #expect(json["coding"] == .string(compression.coding.rawValue))
        #expect(json["form"]?["php"] == ["a": [.string(text)]])
        #expect(json["framing"] == "length")
        #expect(try #require(json["wireLength"]?.int) < 500)
    }

    @Test(arguments: codings)
    func `compressed JSON is read`(compression: RequestCompression) async throws {
        let manager = try GunicornPeer.reader.manager {
            $0.requestCompression = compression
            $0.requestSerializer = JSONRequestSerializer()
        }
        let json = try await manager.post("x", parameters: ["a": .string(text)])
        #expect(json["coding"] == .string(compression.coding.rawValue))
        #expect(json["json"] == ["a": .string(text)])
    }

    @Test(arguments: codings)
    func `a compressed multipart form is read, in chunks`(compression: RequestCompression) async throws {
        let manager = try GunicornPeer.reader.manager { $0.requestCompression = compression }
        var form = MultipartForm()
        form.append(Data(text.utf8), name: "file", fileName: "f.txt", mimeType: "text/plain")
        let json = try await manager.post("x", parameters: ["a": 1], form: form)
        #expect(json["coding"] == .string(compression.coding.rawValue))
        #expect(json["framing"] == "chunked")
        #expect(json["form"]?["php"] == ["a": "1"])
        #expect(json["files"]?[0]?["length"] == 10_000)
        #expect(json["files"]?[0]?["name"] == "file")
    }
}

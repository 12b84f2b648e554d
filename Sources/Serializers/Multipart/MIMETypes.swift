import FoundationEssentials
import HTTPMessage

/// Content types by the extension of a file name.
package enum MIMETypes {
    /// The type of a file name's extension, or `application/octet-stream`.
    ///
    /// The common ones are the same on every machine; for all others the system's list is asked.
    package static func type(ofFileNamed name: String) -> String {
        guard let dot = name.lastIndex(of: "."), name.index(after: dot) < name.endIndex else {
            return unknown
        }
        let fileExtension = name[name.index(after: dot)...].asciiLowercased
        return common[fileExtension] ?? system[fileExtension] ?? unknown
    }

    package static let unknown = "application/octet-stream"

    /// The system's list, read once; empty where there is none.
    private static let system = table(atPath: "/etc/mime.types")

    /// Reads a list of the shape `type/subtype extension extension`, one type a line, `#` before comments.
    static func table(atPath path: String) -> [String: String] {
        // Debian's list has 70 KiB; more than a megabyte is something else.
        let limit = 1_048_576
        guard let reader = try? FileReader(path: path), reader.length <= limit else { return [:] }
        var text = Data()
        while let bytes = try? reader.read(upTo: limit), !bytes.isEmpty, text.count <= limit { text += bytes }
        return table(in: String(decoding: text, as: UTF8.self))
    }

    /// Reads such a list; of an extension that is there twice the first type counts.
    static func table(in text: String) -> [String: String] {
        var types: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard let type = words.first, MediaType(String(type)) != nil else { continue }
            for fileExtension in words.dropFirst() {
                let key = fileExtension.asciiLowercased
                if types[key] == nil { types[key] = String(type) }
            }
        }
        return types
    }

    private static let common = [
        "aac": "audio/aac", "avif": "image/avif", "avi": "video/x-msvideo", "bin": "application/octet-stream",
        "bmp": "image/bmp", "bz2": "application/x-bzip2", "cer": "application/x-x509-ca-cert",
        "crt": "application/x-x509-ca-cert", "css": "text/css", "csv": "text/csv",
        "der": "application/x-x509-ca-cert", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip",
        "heic": "image/heic", "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon",
        "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
        "json": "application/json", "m4a": "audio/mp4", "m4v": "video/x-m4v", "md": "text/markdown",
        "mjs": "text/javascript", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp3": "audio/mpeg",
        "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odt": "application/vnd.oasis.opendocument.text", "oga": "audio/ogg", "ogg": "audio/ogg",
        "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf", "p12": "application/x-pkcs12",
        "pdf": "application/pdf", "plist": "application/x-plist", "png": "image/png",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
        "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain", "wasm": "application/wasm",
        "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp",
        "woff": "font/woff", "woff2": "font/woff2", "xhtml": "application/xhtml+xml",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
        "zip": "application/zip", "zst": "application/zstd", "7z": "application/x-7z-compressed",
    ]
}

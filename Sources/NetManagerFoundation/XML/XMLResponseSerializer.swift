public import HTTPMessage
public import Serializers

/// Gives an XML document as a tree.
///
/// The parser is FoundationXML's `XMLParser`, over libxml2, held shorter: external entities are never fetched, a
/// document type with declarations of its own is refused, and so is what libxml2 only complains about.
public struct XMLResponseSerializer: ResponseSerializer {
    /// Which responses are accepted: by default 200…299, `application/xml` and `text/xml`.
    public var validation: ResponseValidation
    /// How much is read before a document is refused.
    public var limits: XMLLimits

    /// Makes a serializer.
    public init(validation: ResponseValidation = .xml, limits: XMLLimits = XMLLimits()) {
        self.validation = validation
        self.limits = limits
    }

    /// Checks the response and parses its body.
    /// - Returns: The root element.
    /// - Throws: `SerializationError.malformedXML(code:reason:line:column:)`, code 512 when a limit or the document
    ///   type was in the way; `SerializationError.tooLarge(limit:)`; `SerializationError.emptyBody`, that of
    ///   204 and 205 too; `SerializationError.unreadableText(charset:offset:)` or
    ///   `SerializationError.unknownCharset(_:)`; what the validation finds.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> XMLTree {
        try validation.validate(response) { () throws(SerializationError) in
            let source = try XMLSource(response, maximumSize: limits.maximumSize)
            return try XMLTreeBuilder.tree(of: source, limits: limits)
        }
    }
}

/// Gives an XML document for Foundation's event-driven parser, which has not begun.
///
/// The document is not parsed, so it may be malformed. What is checked is that it is text, not too large, and without a
/// document type that declares entities.
public struct XMLParserResponseSerializer: ResponseSerializer {
    /// Which responses are accepted: by default 200…299, `application/xml` and `text/xml`.
    public var validation: ResponseValidation
    /// The largest body in bytes; the default is 16 MiB.
    public var maximumSize: Int

    /// Makes a serializer.
    public init(validation: ResponseValidation = .xml, maximumSize: Int = 16 << 20) {
        self.validation = validation
        self.maximumSize = maximumSize
    }

    /// Checks the response.
    /// - Returns: What makes the parser.
    /// - Throws: As ``XMLResponseSerializer/serialize(_:)``, but for what only parsing finds.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> XMLSource {
        try validation.validate(response) { () throws(SerializationError) in
            try XMLSource(response, maximumSize: maximumSize)
        }
    }
}

extension ResponseValidation {
    /// 200…299 and the content types of XML (RFC 7303), `application/xml` and `text/xml`.
    public static var xml: ResponseValidation {
        ResponseValidation(acceptableContentTypes: ["application/xml", "text/xml"])
    }
}

extension ResponseSerializer where Self == XMLResponseSerializer {
    /// The XML document as a tree, of a response with `application/xml` or `text/xml` and a status of 200…299.
    public static var xml: XMLResponseSerializer { XMLResponseSerializer() }
}

extension ResponseSerializer where Self == XMLParserResponseSerializer {
    /// The XML document for Foundation's event-driven parser, of a response with `application/xml` or `text/xml` and a
    /// status of 200…299.
    public static var xmlParser: XMLParserResponseSerializer { XMLParserResponseSerializer() }
}

public import FoundationEssentials
public import HTTPMessage

/// Gives the body as it is.
public struct DataResponseSerializer: ResponseSerializer, LibrarySerializer {
    /// Which responses are accepted: by default 200…299 and any content type.
    public var validation: ResponseValidation

    /// Makes a serializer.
    public init(validation: ResponseValidation = ResponseValidation()) {
        self.validation = validation
    }

    /// Checks the response; an empty body is empty data.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> Data {
        try validation.validate(response)
        return response.body
    }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// The body as it is, of a response with any content type and a status of 200…299.
    public static var data: DataResponseSerializer { DataResponseSerializer() }
}

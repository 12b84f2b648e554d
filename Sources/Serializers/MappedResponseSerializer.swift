public import HTTPMessage

/// Changes the result of another serializer.
public struct MappedResponseSerializer<Base: ResponseSerializer, Output: Sendable>: ResponseSerializer {
    private var base: Base
    private let transform: @Sendable (Base.Output) throws -> Output

    /// Which responses are accepted: that of the serializer underneath.
    public var validation: ResponseValidation {
        get { base.validation }
        set { base.validation = newValue }
    }

    fileprivate init(_ base: Base, _ transform: @escaping @Sendable (Base.Output) throws -> Output) {
        self.base = base
        self.transform = transform
    }

    /// Serializes as the serializer underneath does, and changes its result.
    /// - Throws: What the serializer underneath throws; what the function throws, as
    ///   ``SerializationError/custom(_:)`` unless it is a ``SerializationError``.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> Output {
        let value = try base.serialize(response)
        return try SerializationError.catching { try transform(value) }
    }
}

/// Changes the body before another serializer reads it.
public struct PreprocessingResponseSerializer<Base: ResponseSerializer>: ResponseSerializer {
    private var base: Base
    private let change: @Sendable (HTTPResponse) throws -> HTTPResponse

    /// Which responses are accepted: that of the serializer underneath, asked after the change.
    public var validation: ResponseValidation {
        get { base.validation }
        set { base.validation = newValue }
    }

    fileprivate init(_ base: Base, _ change: @escaping @Sendable (HTTPResponse) throws -> HTTPResponse) {
        self.base = base
        self.change = change
    }

    /// Changes the response and serializes it as the serializer underneath does.
    /// - Throws: What the serializer underneath throws; what the function throws, as
    ///   ``SerializationError/custom(_:)`` unless it is a ``SerializationError``.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> Base.Output {
        try base.serialize(SerializationError.catching { try change(response) })
    }
}

extension ResponseSerializer {
    /// A serializer with the results of this one, changed by a function.
    /// - Parameter transform: Called once per result, on the thread that serializes.
    /// - Returns: The serializer.
    public func map<New: Sendable>(
        _ transform: @escaping @Sendable (Output) throws -> New
    ) -> MappedResponseSerializer<Self, New> {
        MappedResponseSerializer(self, transform)
    }

    /// A serializer that changes responses before this one reads them, such as to take off a prefix.
    /// - Parameter change: Called once per response, on the thread that serializes.
    /// - Returns: The serializer.
    public func preprocessing(
        _ change: @escaping @Sendable (HTTPResponse) throws -> HTTPResponse
    ) -> PreprocessingResponseSerializer<Self> {
        PreprocessingResponseSerializer(self, change)
    }
}

extension SerializationError {
    /// Runs a function of the caller's.
    fileprivate static func catching<Result>(
        _ body: () throws -> Result
    ) throws(SerializationError) -> Result {
        do {
            return try body()
        } catch let error as SerializationError {
            throw error
        } catch {
            throw .custom(error)
        }
    }
}

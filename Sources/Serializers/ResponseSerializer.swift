public import HTTPMessage

/// Makes a value of a response.
///
/// The manager calls it once per response that has been read to its end, off the engine's thread.
public protocol ResponseSerializer<Output>: Sendable {
    /// What the response becomes.
    associatedtype Output: Sendable

    /// Which status codes and content types are accepted.
    var validation: ResponseValidation { get set }

    /// Checks the response and reads its body.
    /// - Throws: ``SerializationError``. A status that is not accepted stands on top of a content type that is not
    ///   accepted, which stands on top of what is wrong with the body; the lower ones are never hidden.
    func serialize(_ response: HTTPResponse) throws(SerializationError) -> Output
}

/// A response serializer of this module that runs no code of the caller's and never blocks.
///
/// The manager may run it where it would not run others.
package protocol LibrarySerializer: ResponseSerializer {}

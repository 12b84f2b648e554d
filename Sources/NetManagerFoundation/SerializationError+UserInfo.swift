import Foundation
public import Serializers

extension SerializationError {
    /// What the `userInfo` of `NSError(requestError:)` holds.
    ///
    /// - `NSLocalizedDescriptionKey`: the error's text; of a file, `NSLocalizedFailureReasonErrorKey` and
    ///   `NSFilePathErrorKey` too.
    /// - `NSUnderlyingErrorKey` (`NSError`): what lies underneath, such as the content type under a status.
    /// - `NSJSONSerializationErrorIndex` (`Int`): the offset of the byte where reading JSON stopped.
    /// - `NSXMLParserErrorLineNumber` and `NSXMLParserErrorColumn` (`Int`): where reading XML stopped.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if case .file(let path, let reason) = self {
            info[NSFilePathErrorKey] = path
            info[NSLocalizedFailureReasonErrorKey] = reason
        }
        if let cause { info[NSUnderlyingErrorKey] = NSError(requestError: cause) }
        return info.merging(placeOfFailure) { own, _ in own }
    }

    /// The error underneath.
    var cause: (any Error)? {
        switch self {
        case .unacceptableStatus(_, let underlying), .unacceptableContentType(_, let underlying): underlying
        case .undecodable(_, let underlying): underlying
        case .custom(let error): error
        default: nil
        }
    }

    /// Where in the body reading stopped, under Foundation's own keys.
    var placeOfFailure: [String: Any] {
        switch self {
        case .malformedJSON(_, let offset): ["NSJSONSerializationErrorIndex": offset]
        case .malformedXML(_, _, let line, let column):
            ["NSXMLParserErrorLineNumber": line, "NSXMLParserErrorColumn": column]
        default: [:]
        }
    }
}

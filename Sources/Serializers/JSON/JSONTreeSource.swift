import FoundationEssentials
import Locks

/// The tree of a text that a `JSONDecoder` reads, for the ``JSONValue``s in the type that it reads.
///
/// A decoder does not say what a value is. Asking it costs an error with the whole path for each wrong guess, so
/// that a value takes a time that grows with its depth: a body of a megabyte can take a minute. With the tree beside,
/// the outermost value is looked up by its path, once.
final class JSONTreeSource: Sendable {
    /// Where decoders carry it.
    static let key = CodingUserInfoKey(rawValue: "NetManager.JSONTreeSource")

    private enum State {
        case unread(Data)
        case tree(JSONValue)
        /// The text is no JSON for the strict reader.
        case none
    }

    private let state: Guarded<State>

    /// Makes the source of a text, which is read into a tree when it is first asked for.
    init(reading text: Data) {
        state = Guarded(.unread(text))
    }

    /// Makes the source of a text that was written from this tree.
    init(_ tree: JSONValue) {
        state = Guarded(.tree(tree))
    }

    /// The value at a place; nil when there is none, or no tree.
    func value(at path: [any CodingKey]) -> JSONValue? {
        guard var value = tree else { return nil }
        for key in path {
            let next: JSONValue? =
                switch value {
                case .array(let elements):
                    key.intValue.flatMap { elements.indices ~= $0 ? elements[$0] : nil }
                case .object(let members): members[key.stringValue]
                default: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }

    private var tree: JSONValue? {
        switch state.withLock({ $0 }) {
        case .tree(let tree): return tree
        case .none: return nil
        case .unread(let text):
            // As a decoder does: of a key that is there twice the first value counts.
            let tree = try? JSONValue(parsing: text, keepsFirst: true)
            state.withLock { $0 = tree.map { .tree($0) } ?? .none }
            return tree
        }
    }
}

extension JSONDecoder {
    /// A decoder with the same settings that knows the tree of the text; the same one when the tree would not be what
    /// it reads.
    ///
    /// It is another one since the caller's may be at work elsewhere.
    func knowing(_ source: JSONTreeSource) -> JSONDecoder {
        guard type(of: self) == JSONDecoder.self, !allowsJSON5, !assumesTopLevelDictionary,
            case .useDefaultKeys = keyDecodingStrategy, let key = JSONTreeSource.key
        else { return self }
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = dateDecodingStrategy
        copy.dataDecodingStrategy = dataDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
        copy.userInfo = userInfo
        copy.userInfo[key] = source
        return copy
    }
}

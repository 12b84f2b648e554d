/// One value of the tree that an `Encodable` value makes of itself.
///
/// A class, because containers write into it after they have been handed out. It is used by one encoding only,
/// on one thread.
final class FormNode {
    enum Content {
        /// Nothing has been written yet.
        case undecided
        case null
        case text(String)
        case array([FormNode])
        case object(Members)
    }

    /// The members of an object in the order of writing; a name that is written twice keeps its place.
    struct Members {
        private(set) var list: [(key: String, node: FormNode)] = []
        private var places: [String: Int] = [:]

        mutating func set(_ node: FormNode, for key: String) {
            if let place = places[key] {
                list[place].node = node
            } else {
                places[key] = list.count
                list.append((key, node))
            }
        }
    }

    var content = Content.undecided

    /// Adds a member and makes the value an object if it was none.
    func member(_ key: String) -> FormNode {
        let node = FormNode()
        becomeObject()
        if case .object(var members) = content {
            content = .undecided
            members.set(node, for: key)
            content = .object(members)
        }
        return node
    }

    /// Adds an element and makes the value an array if it was none.
    func element() -> FormNode {
        let node = FormNode()
        becomeArray()
        if case .array(var elements) = content {
            content = .undecided
            elements.append(node)
            content = .array(elements)
        }
        return node
    }

    func becomeObject() {
        if case .object = content { return }
        content = .object(Members())
    }

    func becomeArray() {
        if case .array = content { return }
        content = .array([])
    }

    var elementCount: Int {
        if case .array(let elements) = content { elements.count } else { 0 }
    }
}

/// The sequences of keys that the objects of one text have.
///
/// Texts repeat the same few: each is kept once, as a path in a tree whose edges are keys. An object that goes such a
/// path makes no strings for its keys, which share their storage with those that were there before, and it becomes
/// a copy of a dictionary that has the keys already, without hashing them. What is kept has limits, so that a text in
/// which nothing repeats costs little more than without.
struct JSONKeySequences {
    /// A place in the tree: the keys of an object up to here.
    struct Place: Equatable {
        static let root = Place(node: 0)

        fileprivate var node: Int
    }

    /// Members with the keys of a sequence and any values, and where each key's value stands.
    private struct Template {
        var members: [String: JSONValue]
        let places: [Dictionary<String, JSONValue>.Index]

        /// Nil when a key is there twice.
        init?(_ keys: ArraySlice<String>) {
            // The values are the keys' numbers, which thus need not be looked up.
            members = Dictionary(minimumCapacity: keys.count)
            for (number, key) in keys.enumerated() { members.updateValue(JSONValue(number), forKey: key) }
            guard members.count == keys.count, let first = members.indices.first else { return nil }
            var places = [Dictionary<String, JSONValue>.Index](repeating: first, count: keys.count)
            for place in members.indices {
                guard let number = members.values[place].int else { return nil }
                places[number] = place
            }
            self.places = places
        }
    }

    private struct Node {
        /// Where the key stands in the text, without its quotes.
        let start: Int
        let length: Int
        let parent: Int32
        let depth: Int16
        /// Whether the nodes of the keys before it are those with the numbers before its own.
        let isStraight: Bool
        /// How many objects ended here; 2 stands for more.
        var objects: Int8 = 0
        /// Whether a key is known to be there twice.
        var repeatsKey = false
        var childCount: Int8 = 0
        /// The child that was gone to most recently, and another child of the same parent; 0 for none.
        var child: Int32 = 0
        var sibling: Int32 = 0
        var template: Int32 = -1
    }

    /// Limits of the tree: its nodes, the length of a sequence, and the ways to go on from one node.
    private static let maximumNodes = 1024, maximumDepth = 128, maximumChildren = 8

    private var nodes: [Node] = []
    /// The keys of the nodes.
    private var keys: [String] = []
    private var templates: [Template] = []

    /// Goes on by the key that is written next in the text; nil when no object did so before.
    /// - Parameters:
    ///   - place: The keys before it. It becomes the place behind the key.
    ///   - bytes: The whole text.
    ///   - start: Where the key begins, behind its opening quote.
    /// - Returns: Where the key ends, behind its closing quote; nil when the key is not known here.
    mutating func advance(
        _ place: inout Place,
        in bytes: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) -> Int? {
        guard place.node < nodes.count else { return nil }
        let latest = Int(nodes[place.node].child)
        guard latest != 0 else { return nil }
        if let end = end(of: latest, in: bytes, at: start) {
            place.node = latest
            return end
        }
        var before = latest
        while case let child = Int(nodes[before].sibling), child != 0 {
            if let end = end(of: child, in: bytes, at: start) {
                nodes[before].sibling = nodes[child].sibling
                nodes[child].sibling = Int32(latest)
                nodes[place.node].child = Int32(child)
                place.node = child
                return end
            }
            before = child
        }
        return nil
    }

    /// Where a node's key ends when it is the one that begins at an index.
    ///
    /// Bytes are compared as they are written: what they mean was found out when the node was made.
    @inline(__always)
    private func end(of node: Int, in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        let length = nodes[node].length
        let end = start + length
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        let known = nodes[node].start
        for index in 0..<length where bytes[start + index] != bytes[known + index] { return nil }
        return end + 1
    }

    /// Adds a way to go on.
    /// - Parameters:
    ///   - place: The keys before it. It becomes the place behind the key.
    ///   - key: The key.
    ///   - text: Where it is written, without its quotes.
    /// - Returns: False when the limits are reached; nothing was changed then.
    mutating func extend(_ place: inout Place, by key: String, text: Range<Int>) -> Bool {
        if nodes.isEmpty {
            nodes.reserveCapacity(16)
            keys.reserveCapacity(16)
            nodes.append(Node(start: 0, length: 0, parent: 0, depth: 0, isStraight: true))
            keys.append("")
        }
        let parent = nodes[place.node]
        guard nodes.count < Self.maximumNodes, parent.depth < Self.maximumDepth,
            parent.childCount < Self.maximumChildren
        else { return false }
        let child = Int32(nodes.count)
        nodes.append(
            Node(
                start: text.lowerBound,
                length: text.count,
                parent: Int32(place.node),
                depth: parent.depth + 1,
                isStraight: parent.isStraight && (place == .root || place.node == child - 1),
                sibling: parent.child
            )
        )
        keys.append(key)
        nodes[place.node].child = child
        nodes[place.node].childCount += 1
        place.node = Int(child)
        return true
    }

    /// The keys up to a place, in their order.
    func keys(to place: Place) -> ArraySlice<String> {
        guard place != .root else { return [] }
        let depth = Int(nodes[place.node].depth)
        if nodes[place.node].isStraight { return keys[(place.node - depth + 1)...place.node] }
        var result = [String](repeating: "", count: depth)
        var node = place.node
        for index in stride(from: depth - 1, through: 0, by: -1) {
            result[index] = keys[node]
            node = Int(nodes[node].parent)
        }
        return result[...]
    }

    /// Makes the members of an object whose keys end at a place, of the newest values.
    /// - Parameters:
    ///   - place: The keys.
    ///   - values: The values.
    ///   - first: The index of the first value.
    ///   - isElement: Whether the object stands in an array, and more of its kind are likely to follow.
    /// - Returns: The members.
    mutating func members(
        at place: Place,
        of values: inout JSONValueStack,
        from first: Int,
        isElement: Bool
    ) -> [String: JSONValue] {
        let node = place.node
        if nodes[node].template < 0 {
            let keys = keys(to: place)
            // A template is worth its making when there is a second object.
            nodes[node].objects = min(2, nodes[node].objects + (isElement ? 2 : 1))
            guard nodes[node].objects == 2, !nodes[node].repeatsKey else {
                return values.popMembers(from: first, keys: keys)
            }
            guard let template = Template(keys) else {
                nodes[node].repeatsKey = true
                return values.popMembers(from: first, keys: keys)
            }
            nodes[node].template = Int32(templates.count)
            templates.append(template)
        }
        let template = Int(nodes[node].template)
        var members = templates[template].members
        values.popValues(from: first, into: &members.values, at: templates[template].places)
        return members
    }
}

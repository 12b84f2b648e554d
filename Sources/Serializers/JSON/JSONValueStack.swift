/// Values that are in no container yet, the newest last.
///
/// A stack of its own, since an array would copy values out and release them behind: each step of that counts
/// references, and takes longer than reading a number. Here values are moved.
struct JSONValueStack: ~Copyable {
    private var base: UnsafeMutablePointer<JSONValue>
    private var capacity = 32
    private(set) var count = 0
    /// Whether of a key that is there twice the first value counts.
    private let keepsFirst: Bool

    init(keepsFirst: Bool) {
        self.keepsFirst = keepsFirst
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func push(_ value: consuming JSONValue) {
        if count == capacity { grow() }
        (base + count).initialize(to: value)
        count += 1
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<JSONValue>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }

    /// Takes the newest value; nil when there is none.
    mutating func pop() -> JSONValue? {
        guard count > 0 else { return nil }
        count -= 1
        return (base + count).move()
    }

    /// Takes all values from an index on.
    mutating func popArray(from first: Int) -> [JSONValue] {
        // Here and below: the indices are the parser's own counts and no text changes them, but memory is taken by them.
        precondition(0...count ~= first)
        var elements: [JSONValue] = []
        elements.reserveCapacity(count - first)
        for index in first..<count { elements.append((base + index).move()) }
        count = first
        return elements
    }

    /// Takes all values from an index on as the members of an object.
    /// - Parameters:
    ///   - first: The index of the first value.
    ///   - keys: The keys, as many as there are values.
    /// - Returns: The members.
    mutating func popMembers(from first: Int, keys: ArraySlice<String>) -> [String: JSONValue] {
        precondition(0...count ~= first && keys.count == count - first)
        var members = [String: JSONValue](minimumCapacity: keys.count)
        for (index, key) in zip(first..<count, keys) {
            let earlier = members.updateValue((base + index).move(), forKey: key)
            if keepsFirst, let earlier { members[key] = earlier }
        }
        count = first
        return members
    }

    /// Takes all values from an index on into the places of members, as many as there are values.
    mutating func popValues(
        from first: Int,
        into values: inout Dictionary<String, JSONValue>.Values,
        at places: [Dictionary<String, JSONValue>.Index]
    ) {
        precondition(0...count ~= first && places.count == count - first)
        for (index, place) in zip(first..<count, places) { values[place] = (base + index).move() }
        count = first
    }
}

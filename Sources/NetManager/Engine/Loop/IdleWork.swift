/// What is to be done once nothing is under way.
struct IdleWork {
    enum Item {
        case closeConnections
        case tell(@Sendable () -> Void)
    }

    private var items: [Item] = []

    var isEmpty: Bool { items.isEmpty }

    /// Adds something to the end.
    ///
    /// To close connections is asked for as often as one likes, and a transport may never be without a request.
    mutating func add(_ item: Item) {
        if case .closeConnections = item {
            items.removeAll { if case .closeConnections = $0 { true } else { false } }
        }
        items.append(item)
    }

    /// Takes all of it.
    mutating func take() -> [Item] {
        defer { items = [] }
        return items
    }
}

/// What a ``TransferTable`` holds.
protocol Numbered: AnyObject {
    var id: TransferID { get }
}

/// The transfers under way, by their numbers.
///
/// Numbers grow by one with each request of the process, so a multiplication spreads them evenly (Fibonacci hashing), where
/// a dictionary's hash, which must stand up to those who choose keys, takes a hundred instructions.
struct TransferTable<Transfer: Numbered> {
    /// By number, from the place that it leads to on, with no gap between that place and its own (linear probing).
    private var places: [Transfer?] = Array(repeating: nil, count: 64)
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// All of them, in no particular order.
    var all: [Transfer] { places.compactMap(\.self) }

    /// The transfer of that name; nil when there is none.
    subscript(id: TransferID) -> Transfer? {
        var place = home(of: id)
        while let transfer = places[place] {
            if transfer.id == id { return transfer }
            place = next(place)
        }
        return nil
    }

    /// Adds a transfer that is not there yet.
    mutating func insert(_ transfer: Transfer) {
        // Half of the places stay empty, so that every search ends soon.
        if 2 * (count + 1) > places.count { grow() }
        put(transfer)
        count += 1
    }

    /// Takes a transfer out.
    /// - Returns: The transfer; nil when there is none of that name.
    @discardableResult
    mutating func remove(_ id: TransferID) -> Transfer? {
        var place = home(of: id)
        while let transfer = places[place] {
            if transfer.id == id {
                close(place)
                count -= 1
                return transfer
            }
            place = next(place)
        }
        return nil
    }

    private func home(of id: TransferID) -> Int {
        // The factor is 2⁶⁴ divided by the golden ratio; what it spreads best are the upper bits.
        Int(truncatingIfNeeded: (id.number &* 0x9E37_79B9_7F4A_7C15) >> 32) & (places.count - 1)
    }

    private func next(_ place: Int) -> Int { (place + 1) & (places.count - 1) }

    private mutating func put(_ transfer: Transfer) {
        var place = home(of: transfer.id)
        while places[place] != nil { place = next(place) }
        places[place] = transfer
    }

    /// Empties a place, and moves up those behind it that would not be found any more.
    private mutating func close(_ emptied: Int) {
        var gap = emptied
        var place = next(gap)
        while let transfer = places[place] {
            // It may fill the gap unless the place that it leads to lies between the two.
            let way = (place - home(of: transfer.id)) & (places.count - 1)
            if way >= (place - gap) & (places.count - 1) {
                places[gap] = transfer
                gap = place
            }
            place = next(place)
        }
        places[gap] = nil
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: nil, count: old.count * 2)
        for case let transfer? in old { put(transfer) }
    }
}

/// The transfers that have got a connection since the event loop last looked.
///
/// It is told inside libcurl's callbacks, where nothing may be added to libcurl.
final class ConnectedTransfers {
    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) private var transfers: [Transfer] = []

    func add(_ transfer: Transfer) {
        transfers.append(transfer)
    }

    func take() -> [Transfer] {
        guard !transfers.isEmpty else { return [] }
        defer { transfers = [] }
        return transfers
    }
}

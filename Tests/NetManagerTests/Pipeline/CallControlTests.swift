import Locks
import Testing

@testable import NetManager

@Suite struct CallControlTests {
    /// Keeps what it is told.
    private struct Told: CallControl.Transfer {
        let orders = Guarded<[CallControl.Order]>([])
        var cancellations: Int {
            orders.withLock { $0.count { if case .cancel = $0 { true } else { false } } }
        }

        func take(_ order: CallControl.Order) { orders.withLock { $0.append(order) } }
    }

    @Test func `a transfer that carries a call alone is told that the call is cancelled, now or later`() {
        let control = CallControl()
        let first = Told()
        let second = Told()
        control.attach(first)
        #expect(first.cancellations == 0)
        control.cancel()
        #expect(first.cancellations == 1)
        control.attach(second)
        #expect(second.cancellations == 1)
    }

    @Test func `where more than a transfer carries a call, that is ended and the transfer left to it`() {
        let control = CallControl()
        let transfer = Told()
        let ends = Guarded(0)
        control.setCarrier { ends.withLock { $0 += 1 } }
        control.attach(transfer)
        control.cancel()
        control.attach(transfer)
        #expect(ends.withLock(\.self) == 1)
        #expect(transfer.cancellations == 0)
        // What takes over a call that is cancelled already.
        control.setCarrier { ends.withLock { $0 += 10 } }
        #expect(ends.withLock(\.self) == 11)
    }

    @Test func `a call whose outcome was told is not cancelled any more`() {
        let control = CallControl()
        let transfer = Told()
        control.attach(transfer)
        #expect(!control.finish())
        control.cancel()
        #expect(transfer.cancellations == 0)
        #expect(control.ending == (false, true))
    }
}

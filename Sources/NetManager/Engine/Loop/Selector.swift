import CLinux
import Glibc

/// Which descriptors the thread waits for, over epoll.
///
/// libcurl asks for a descriptor to be forgotten after each request and to be watched again for the next. A socket
/// that was opened through ``adopt(_:)`` stays registered until it is closed or until something happens on it that
/// nobody asked for: a fifth of the CPU of a small request went into these calls. Other changes are told to epoll when the
/// thread is about to wait: a body that is read as fast as it comes changes its mind twice for each read. Descriptors that
/// libcurl opens by itself (its resolver's) are closed without a word, so they are taken out when libcurl says so.
final class Selector {
    /// What libcurl wants to know of a descriptor.
    struct Interest: OptionSet {
        let rawValue: UInt8
        static let read = Interest(rawValue: 1)
        static let write = Interest(rawValue: 2)
    }

    /// What happened on a descriptor.
    struct Event {
        let descriptor: Int32
        let readable: Bool
        let writable: Bool
        let failed: Bool
    }

    /// A descriptor as it is now: its number means another file once it was closed.
    struct Watched {
        fileprivate let descriptor: Int32
        fileprivate let serial: UInt64
    }

    /// What epoll has been told, and what libcurl wants now.
    private struct Entry {
        /// Grows from descriptor to descriptor.
        let serial: UInt64
        var registered: Interest = []
        var wanted: Interest = []
        /// Whether it is among those that epoll may have to be told of.
        var hasChanged = false
        /// Whether its bytes stay in the kernel, whatever libcurl wants.
        var isHeld = false
        /// Whether its closing will be told, so that it may stay registered meanwhile.
        var isAdopted = false
        /// Whether what is carried is encrypted twice.
        var isLayered = false

        /// What is waited for.
        var effective: Interest { isHeld ? wanted.subtracting(.read) : wanted }
    }

    private let epoll: Int32
    private let wakeDescriptor: Int32
    /// By descriptor: the kernel gives the smallest numbers that are free.
    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) private var entries: [Entry?] = []
    private var lastSerial: UInt64 = 0
    /// Descriptors of which epoll may have to be told before the next wait; some may be closed by then.
    @exclusivity(unchecked) private var changed: [Int32] = []
    /// Sockets on which there may be something that the kernel does not know of.
    let unread = UnreadSockets()
    private var buffer = [epoll_event](repeating: epoll_event(), count: 64)

    /// Makes a selector over an epoll, which it closes in the end, that a write to an eventfd wakes.
    init(epoll: Int32, wakeDescriptor: Int32) {
        self.epoll = epoll
        self.wakeDescriptor = wakeDescriptor
        var event = epoll_event()
        // Edge-triggered: each write wakes once, and nobody has to read the counter.
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        event.data.fd = wakeDescriptor
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeDescriptor, &event)
    }

    func close() {
        Glibc.close(epoll)
    }

    /// Takes charge of a socket that was just opened and whose closing will be told by ``forget(_:)``.
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - isLayered: Whether it leads to an https proxy.
    func adopt(_ descriptor: Int32, isLayered: Bool = false) {
        self[descriptor] = Entry(serial: nextSerial(), isAdopted: true, isLayered: isLayered)
        if isLayered { unread.adopt(descriptor) }
    }

    /// Watches a descriptor, or changes what is watched.
    func watch(_ descriptor: Int32, for interest: Interest) {
        var entry = self[descriptor] ?? Entry(serial: nextSerial())
        entry.wanted = interest
        note(&entry, descriptor)
        self[descriptor] = entry
    }

    private func nextSerial() -> UInt64 {
        lastSerial += 1
        return lastSerial
    }

    /// What a number means at this moment; nil when it is not known.
    func watched(_ descriptor: Int32) -> Watched? {
        self[descriptor].map { Watched(descriptor: descriptor, serial: $0.serial) }
    }

    /// Leaves what comes on a socket in the kernel, and so holds the sender back, until ``release(_:)`` or until libcurl
    /// asks no more for the socket; nothing happens when that was closed meanwhile.
    func hold(_ socket: Watched) {
        setHeld(socket, true)
    }

    /// Reads a socket again, if it is still there.
    func release(_ socket: Watched) {
        setHeld(socket, false)
    }

    private func setHeld(_ socket: Watched, _ isHeld: Bool) {
        let descriptor = socket.descriptor
        guard var entry = self[descriptor], entry.serial == socket.serial, entry.isHeld != isHeld else {
            return
        }
        entry.isHeld = isHeld
        if !entry.wanted.isEmpty { note(&entry, descriptor) }
        self[descriptor] = entry
    }

    /// Remembers to tell epoll what is waited for, if that is not what it was told last.
    private func note(_ entry: inout Entry, _ descriptor: Int32) {
        guard !entry.hasChanged, entry.registered != entry.effective else { return }
        entry.hasChanged = true
        changed.append(descriptor)
    }

    /// Tells epoll what has changed since the last wait.
    private func tellChanges() {
        guard !changed.isEmpty else { return }
        for descriptor in changed {
            guard var entry = self[descriptor], entry.hasChanged else { continue }
            entry.hasChanged = false
            // A socket that libcurl has let go of meanwhile stays registered as it is.
            if !entry.wanted.isEmpty { register(&entry, descriptor) }
            self[descriptor] = entry
        }
        changed.removeAll(keepingCapacity: true)
    }

    private func register(_ entry: inout Entry, _ descriptor: Int32) {
        let interest = entry.effective
        guard entry.registered != interest else { return }
        let operation =
            interest.isEmpty ? EPOLL_CTL_DEL : entry.registered.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        tellEpoll(operation, descriptor, interest)
        entry.registered = interest
    }

    /// Nobody asks for a descriptor any more.
    func ignore(_ descriptor: Int32) {
        guard let entry = self[descriptor] else { return }
        if entry.isAdopted {
            self[descriptor]?.wanted = []
            self[descriptor]?.isHeld = false
        } else {
            self[descriptor] = nil
            if !entry.registered.isEmpty { tellEpoll(EPOLL_CTL_DEL, descriptor, []) }
        }
    }

    /// A descriptor is about to be closed.
    ///
    /// The kernel forgets it by itself only once nobody has a copy of it, as a program that is being started does until its
    /// first instruction. Until then it would be told of again and again, under a number that nobody can take out any more.
    func forget(_ descriptor: Int32) {
        guard let entry = self[descriptor] else { return }
        if entry.isLayered { unread.forget(descriptor) }
        if !entry.registered.isEmpty { tellEpoll(EPOLL_CTL_DEL, descriptor, []) }
        self[descriptor] = nil
    }

    private subscript(descriptor: Int32) -> Entry? {
        get {
            let index = Int(descriptor)
            return entries.indices.contains(index) ? entries[index] : nil
        }
        set {
            let index = Int(descriptor)
            guard index >= 0 else { return }
            if index >= entries.count {
                guard newValue != nil else { return }
                entries += Array(repeating: nil, count: index + 1 - entries.count)
            }
            entries[index] = newValue
        }
    }

    /// Waits for something to happen.
    /// - Parameters:
    ///   - milliseconds: The longest wait; -1 for ever.
    ///   - events: Becomes what happened on watched descriptors; its memory is used again.
    func wait(milliseconds: Int32, _ events: inout [Event]) {
        events.removeAll(keepingCapacity: true)
        tellChanges()
        let hidden = unread.take()
        let count = buffer.withUnsafeMutableBufferPointer { buffer in
            // The pointer may be nil by the header of glibc 2.36, not by that of 2.41; the buffer is never empty.
            guard let start = buffer.baseAddress else { return Int32(0) }
            return epoll_wait(epoll, start, Int32(buffer.count), hidden.isEmpty ? milliseconds : 0)
        }
        for index in 0..<max(0, Int(count)) where buffer[index].data.fd != wakeDescriptor {
            if let event = event(of: buffer[index]) { events.append(event) }
        }
        for descriptor in hidden where self[descriptor]?.effective.contains(.read) == true {
            guard !events.contains(where: { $0.descriptor == descriptor }) else { continue }
            events.append(Event(descriptor: descriptor, readable: true, writable: false, failed: false))
        }
    }

    private func event(of raw: epoll_event) -> Event? {
        let descriptor = raw.data.fd
        guard let entry = self[descriptor], !entry.effective.isEmpty else {
            // Stray: an idle connection was closed by the peer, or libcurl has lost interest. Level-triggered epoll
            // would report it for ever. libcurl finds out by itself when it next takes the connection.
            self[descriptor]?.registered = []
            tellEpoll(EPOLL_CTL_DEL, descriptor, [])
            return nil
        }
        return Event(
            descriptor: descriptor,
            readable: !entry.isHeld && raw.events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0,
            writable: raw.events & EPOLLOUT.rawValue != 0,
            failed: raw.events & EPOLLERR.rawValue != 0
        )
    }

    /// Changes the registration; the table may be wrong about a number that was closed and given out again.
    private func tellEpoll(_ operation: Int32, _ descriptor: Int32, _ interest: Interest) {
        var event = epoll_event()
        event.events =
            (interest.contains(.read) ? EPOLLIN.rawValue : 0)
            | (interest.contains(.write) ? EPOLLOUT.rawValue : 0)
        event.data.fd = descriptor
        guard epoll_ctl(epoll, operation, descriptor, &event) == -1 else { return }
        switch (operation, errno) {
        case (EPOLL_CTL_ADD, EEXIST): epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
        case (EPOLL_CTL_MOD, ENOENT): epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        default: break
        }
    }
}

public import HTTPMessage

/// The place of a request in a distributed trace (W3C Trace Context, level 1).
public struct TraceContext: Sendable, Hashable {
    /// The trace, 16 bytes, not all of them zero.
    public let traceID: [UInt8]
    /// The span that the request belongs to, 8 bytes, not all of them zero.
    public let spanID: [UInt8]
    /// The flags; bit 0 says that the trace is recorded.
    public var flags: UInt8
    /// What tracing systems hand on to themselves, at most 32 members; empty by default.
    public private(set) var state: String

    /// Whether the trace is recorded.
    public var isSampled: Bool {
        get { flags & 1 != 0 }
        set { flags = newValue ? flags | 1 : flags & ~1 }
    }

    /// Makes a context of known identifiers.
    ///
    /// It is nil for identifiers of another length or of zeros.
    ///
    /// - Parameters:
    ///   - traceID: 16 bytes.
    ///   - spanID: 8 bytes.
    ///   - isSampled: Whether the trace is recorded.
    ///   - state: The value of `tracestate`; one that breaks the rules is left out.
    public init?(traceID: [UInt8], spanID: [UInt8], isSampled: Bool, state: String = "") {
        guard traceID.count == 16, spanID.count == 8, traceID.contains(where: { $0 != 0 }),
            spanID.contains(where: { $0 != 0 })
        else { return nil }
        self.traceID = traceID
        self.spanID = spanID
        flags = isSampled ? 1 : 0
        self.state = TraceState.isValid(state) ? state : ""
    }

    /// Begins a trace with random identifiers.
    ///
    /// - Parameter isSampled: Whether the trace is recorded; true by default.
    public init(isSampled: Bool = true) {
        traceID = Self.random(16)
        spanID = Self.random(8)
        flags = isSampled ? 1 : 0
        state = ""
    }

    private init(traceID: [UInt8], spanID: [UInt8], flags: UInt8, state: String) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
        self.state = state
    }

    /// The context of a span below this one: the same trace, another span.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: Self.random(8), flags: flags, state: state)
    }

    private static func random(_ count: Int) -> [UInt8] {
        var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
        // All zeros mean "none".
        if !bytes.contains(where: { $0 != 0 }) { bytes[0] = 1 }
        return bytes
    }
}

extension TraceContext {
    /// Reads the fields `traceparent` and `tracestate` of a request that came in.
    ///
    /// It is nil where `traceparent` is missing, occurs twice or breaks the rules: the trace begins anew then. A broken
    /// `tracestate` is left out.
    ///
    /// - Parameter headers: The fields; several `tracestate` fields are one list.
    public init?(headers: HTTPHeaders) {
        let parents = headers[values: "traceparent"]
        guard parents.count == 1, let parent = parents.first else { return nil }
        self.init(traceparent: parent, tracestate: headers[values: "tracestate"].joined(separator: ","))
    }

    /// Reads the values of the two fields.
    ///
    /// It is nil where `traceparent` breaks the rules.
    ///
    /// - Parameters:
    ///   - traceparent: `00-TRACE-SPAN-FLAGS` in lower-case hexadecimal digits. Of a newer version the same four parts
    ///     are read (section 4.3).
    ///   - tracestate: A list; one that breaks the rules is left out.
    public init?(traceparent: String, tracestate: String = "") {
        let bytes = Array(traceparent.utf8)
        guard bytes.count >= 55, let version = Self.bytes(bytes[0..<2]), version != [0xFF],
            [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            // Version 0 ends here; a newer one may go on behind another hyphen.
            bytes.count == 55 || version != [0] && bytes[55] == UInt8(ascii: "-"),
            let traceID = Self.bytes(bytes[3..<35]), let spanID = Self.bytes(bytes[36..<52]),
            let flags = Self.bytes(bytes[53..<55])?.first,
            let context = TraceContext(traceID: traceID, spanID: spanID, isSampled: false, state: tracestate)
        else { return nil }
        self = context
        // Only the flag that is known is handed on (section 3.2.2.5).
        self.flags = flags & 1
    }

    /// The value of the field `traceparent`.
    public var traceparent: String {
        "00-\(Self.text(traceID))-\(Self.text(spanID))-\(Self.text([flags]))"
    }

    /// Writes the context into the fields of a request, in the place of what is there.
    ///
    /// - Parameter headers: The fields.
    public func inject(into headers: inout HTTPHeaders) {
        headers["traceparent"] = traceparent
        headers["tracestate"] = state.isEmpty ? nil : state
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}

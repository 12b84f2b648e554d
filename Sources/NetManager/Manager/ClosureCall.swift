import Dispatch
import HTTPMessage
import Serializers

/// A call with closures on its way: what it waits for, and what is done with that.
///
/// One object from the beginning to the closure that is called in the end, so that nothing is wrapped anew where the call is
/// handed on. What depends on the type of the output is in ``TypedCall``.
///
/// `@unchecked Sendable` is true because what came is kept by the one who then hands the call to its queue, once, and
/// looked at there.
class ClosureCall: @unchecked Sendable {
    /// Calls the closure of success with what was read.
    typealias Success = @Sendable (RequestTask) -> Void

    /// How the call has ended.
    private enum Ending {
        case success(Success)
        indirect case failure(RequestError)
    }

    private let prepared: PreparedCall
    let completion: Completion
    /// Whether no user's code reads the response.
    private let isReadByLibrary: Bool
    // Only assigned and read, so that no access begins inside of another.
    @exclusivity(unchecked) private var ending: Ending?
    /// The head of the response, for monitors.
    @exclusivity(unchecked) private var head: HTTPResponse.Head?

    private var exchange: Exchange { prepared.exchange }
    private var lanes: Lanes { prepared.exchange.lanes }

    init(_ prepared: consuming PreparedCall, _ completion: consuming Completion, isReadByLibrary: Bool) {
        self.prepared = prepared
        self.completion = completion
        self.isReadByLibrary = isReadByLibrary
    }

    /// Reads a response; every kind of call has a way of its own.
    func read(_ response: HTTPResponse) throws(SerializationError) -> Success { { _ in } }

    /// Begins the call: without a task where nothing but the transport is to be waited for and no user's code reads the
    /// response.
    final func begin() {
        do {
            if isReadByLibrary, let transport = lanes.transport, let plan = try prepared.directPlan() {
                // Whoever cancels tells the transfer itself.
                transport.start(plan, .steps { self.take($0) })
            } else {
                carry { try await self.prepared.answer() }
            }
        } catch {
            fail(error)
        }
    }

    /// Takes the transport's answer, on the engine's thread.
    private func take(_ answer: TransferAnswer) {
        do {
            guard exchange.settles(answer) else {
                return carry { try await self.prepared.followed(answer) }
            }
            let response = try answer.takeWhole()
            guard response.body.count > Lanes.decodedOnEngine else { return end(with: response) }
            DispatchQueue.global().async { self.end(with: response) }
        } catch {
            fail(error)
        }
    }

    /// Waits for the response in a task.
    private func carry(_ answer: @escaping @Sendable () async throws -> TransferAnswer) {
        let carrier = Task(executorPreference: lanes.engine) { [self] in
            do {
                let response = try await answer().takeWhole()
                if isReadByLibrary, response.body.count <= Lanes.decodedOnEngine {
                    end(with: response)
                } else {
                    try await lanes.offEngine { end(with: response) }
                }
            } catch {
                fail(error)
            }
        }
        completion.task.control.setCarrier(carrier.cancel)
    }

    private func end(with response: HTTPResponse) {
        if exchange.events != nil { head = response.head }
        do {
            ending = .success(try read(response))
        } catch {
            ending = .failure(RequestError.unreadable(error, response, of: exchange))
        }
        completion.enqueue { self.complete() }
    }

    private func fail(_ error: any Error) {
        ending = .failure(RequestError.made(from: error, of: exchange))
        completion.enqueue { self.complete() }
    }

    /// Calls one of the closures, on the completion queue.
    private func complete() {
        // What the closures let go of is gone when they return.
        switch ending.take() {
        // The head is copied for monitors only.
        case .success(let success):
            let head = exchange.events == nil ? nil : head
            completion.call(nil, exchange, head) { success(completion.task) }
        case .failure(let error): completion.call(error, exchange, head) {}
        case nil: break
        }
    }
}

/// A call with closures whose response is read by a serializer of that type.
final class TypedCall<S: ResponseSerializer>: ClosureCall, @unchecked Sendable {
    private let serializer: S
    private let success: (@Sendable (RequestTask, S.Output) -> Void)?

    init(
        _ prepared: consuming PreparedCall,
        _ completion: consuming Completion,
        isReadByLibrary: Bool,
        _ serializer: consuming S,
        _ success: (@Sendable (RequestTask, S.Output) -> Void)?
    ) {
        self.serializer = serializer
        self.success = success
        super.init(prepared, completion, isReadByLibrary: isReadByLibrary)
    }

    override func read(_ response: HTTPResponse) throws(SerializationError) -> Success {
        // Not kept in an optional: of types that are made of one that is not known before the program runs, the run time
        // has to find each one whenever it is used, some 300 instructions.
        let output = try serializer.serialize(response)
        return { [success] in success?($0, output) }
    }
}

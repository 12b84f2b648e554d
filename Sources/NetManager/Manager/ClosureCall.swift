import Dispatch
import HTTPMessage
import Serializers

/// A call with closures on its way: what it waits for, and what is done with that.
///
/// Nothing of it is generic but the closure that reads the response: everything else would go through the metadata of
/// types that the run time makes, and one object is handed on instead of a dozen references.
final class ClosureCall: Sendable {
    /// Reads a response, and gives what calls the closure of success with what it found.
    typealias Reader = @Sendable (HTTPResponse) throws(SerializationError) -> Completion.Success

    private let prepared: PreparedCall
    private let completion: Completion
    private let lanes: Lanes
    /// Whether no user's code reads the response.
    private let isReadByLibrary: Bool
    private let reader: Reader

    private var exchange: Exchange { prepared.exchange }

    init(
        prepared: PreparedCall,
        completion: Completion,
        lanes: Lanes,
        isReadByLibrary: Bool,
        reader: @escaping Reader
    ) {
        self.prepared = prepared
        self.completion = completion
        self.lanes = lanes
        self.isReadByLibrary = isReadByLibrary
        self.reader = reader
    }

    /// Begins the call: without a task where nothing but the transport is to be waited for and no user's code reads the
    /// response.
    func begin() {
        do {
            if isReadByLibrary, let transport = lanes.transport, let plan = try prepared.directPlan() {
                completion.task.control.setCarrier { transport.cancel(plan) }
                transport.start(plan, .steps { self.take($0) })
            } else {
                carry { try await self.prepared.answer() }
            }
        } catch {
            deliver(.failure(RequestError.made(from: error, of: exchange)), nil)
        }
    }

    /// Takes the transport's answer, on the engine's thread.
    private func take(_ answer: TransferAnswer) {
        do {
            guard exchange.settles(answer) else {
                return carry { try await self.prepared.followed(answer) }
            }
            let response = try answer.takeWhole()
            guard response.body.count > Lanes.decodedOnEngine else { return read(response) }
            DispatchQueue.global().async { self.read(response) }
        } catch {
            deliver(.failure(RequestError.made(from: error, of: exchange)), nil)
        }
    }

    private func read(_ response: HTTPResponse) {
        deliver(outcome(response), exchange.events == nil ? nil : response.head)
    }

    private func outcome(_ response: HTTPResponse) -> Completion.Outcome {
        do {
            return .success(try reader(response))
        } catch {
            return .failure(RequestError.unreadable(error, response, of: exchange))
        }
    }

    /// Waits for the response in a task.
    private func carry(_ answer: @escaping @Sendable () async throws -> TransferAnswer) {
        let carrier = Task(executorPreference: lanes.engine) { [self] in
            do {
                let response = try await answer().takeWhole()
                if isReadByLibrary, response.body.count <= Lanes.decodedOnEngine {
                    read(response)
                } else {
                    deliver(try await lanes.offEngine { outcome(response) }, response.head)
                }
            } catch {
                deliver(.failure(RequestError.made(from: error, of: exchange)), nil)
            }
        }
        completion.task.control.setCarrier(carrier.cancel)
    }

    private func deliver(_ outcome: Completion.Outcome, _ head: HTTPResponse.Head?) {
        completion.enqueue { [self] in completion.call(outcome, exchange, head) }
    }
}

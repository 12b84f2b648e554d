import Dispatch
import HTTPMessage
import Serializers

/// A call with closures on its way: what it waits for, and what is done with that.
struct ClosureCall<S: ResponseSerializer>: Sendable {
    let prepared: PreparedCall
    let serializer: S
    let completion: Completion<S.Output>
    let lanes: Lanes

    private var exchange: Exchange { prepared.exchange }

    /// Begins the call: without a task where nothing but the transport is to be waited for and no user's code reads the
    /// response.
    func begin() {
        do {
            if serializer is any LibrarySerializer, let transport = lanes.transport,
                let plan = try prepared.directPlan()
            {
                completion.task.attach { transport.cancel(plan) }
                transport.start(plan, .steps { take($0) })
            } else {
                carry { try await prepared.respond() }
            }
        } catch {
            deliver(.failure(RequestError.made(from: error, of: exchange)), nil)
        }
    }

    /// Takes the transport's answer, on the engine's thread.
    private func take(_ answer: TransferAnswer) {
        do {
            guard let response = try exchange.whole(answer) else {
                return carry { try await prepared.followed(answer) }
            }
            guard response.body.count > Lanes.decodedOnEngine else { return read(response) }
            DispatchQueue.global().async { read(response) }
        } catch {
            deliver(.failure(RequestError.made(from: error, of: exchange)), nil)
        }
    }

    private func read(_ response: HTTPResponse) {
        let result: Result<S.Output, RequestError>
        do {
            result = .success(try prepared.read(response, as: serializer))
        } catch {
            result = .failure(error)
        }
        deliver(result, response.head)
    }

    /// Waits for the response in a task.
    private func carry(_ respond: @escaping @Sendable () async throws -> HTTPResponse) {
        let carrier = Task(executorPreference: lanes.engine) {
            let result: Result<S.Output, RequestError>
            var head: HTTPResponse.Head?
            do {
                let response = try await respond()
                head = response.head
                if serializer is any LibrarySerializer, response.body.count <= Lanes.decodedOnEngine {
                    result = .success(try prepared.read(response, as: serializer))
                } else {
                    result = .success(
                        try await lanes.offEngine { try prepared.read(response, as: serializer) }
                    )
                }
            } catch {
                result = .failure(RequestError.made(from: error, of: exchange))
            }
            deliver(result, head)
        }
        completion.task.attach { carrier.cancel() }
    }

    private func deliver(_ result: Result<S.Output, RequestError>, _ head: HTTPResponse.Head?) {
        completion.deliver(result, for: HTTPRequestLine(exchange.request)) { [exchange] in
            exchange.ended(head, $0, isDelivered: false)
        } left: { [exchange] in
            exchange.left()
        }
    }
}

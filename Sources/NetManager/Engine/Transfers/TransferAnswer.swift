import HTTPMessage
import Locks

/// The answer to a call, on its way from the engine's thread to the one who waits for it.
///
/// A class, as it holds a dozen references and passes through half a dozen hands; and whoever it is for takes its content
/// out, so that none of them is counted on the way. `@unchecked Sendable` is true because the engine's thread fills it
/// before it hands it over, once, to the one who takes.
final class TransferAnswer: @unchecked Sendable {
    private enum Content {
        /// A response that has been read to its end.
        case whole(HTTPResponse)
        /// A response whose content is still to come.
        case streamed(StreamedResponse)
        case failed(any Error)
        case taken
    }

    /// The status of the response; 0 without one.
    let status: Int
    /// Whether the content of the response is still to come.
    let isStreamed: Bool
    /// How many bytes of content have been read; nil for an answer that is none or streamed.
    let bodyCount: Int?
    /// What is known beside a response that has been read.
    let remarks: ResponseRemarks
    private var content: Content

    init(whole response: consuming HTTPResponse, _ remarks: consuming ResponseRemarks) {
        status = response.head.status
        isStreamed = false
        bodyCount = response.body.count
        self.remarks = consume remarks
        content = .whole(consume response)
    }

    init(streamed response: consuming StreamedResponse) {
        status = response.head.status
        isStreamed = true
        bodyCount = nil
        remarks = ResponseRemarks()
        content = .streamed(consume response)
    }

    init(failed error: any Error) {
        status = 0
        isStreamed = false
        bodyCount = nil
        remarks = ResponseRemarks()
        content = .failed(error)
    }

    /// Takes the content out; to be called once.
    private func take() -> Content {
        var taken = Content.taken
        swap(&taken, &content)
        return taken
    }

    /// Takes the content as a response that has been read, of an answer that is not streamed.
    /// - Throws: What the transfer failed with.
    func takeWhole() throws -> HTTPResponse {
        switch take() {
        case .whole(let response): return response
        case .streamed(let response): return HTTPResponse(head: response.head)
        case .failed(let error): throw error
        case .taken: throw CancellationError()
        }
    }

    /// Takes the content as a response of which it is open whether it has been read.
    /// - Throws: What the transfer failed with.
    func takeStreamed() throws -> StreamedResponse {
        switch take() {
        case .whole(let response): return remarks.streamed(response)
        case .streamed(let response): return response
        case .failed(let error): throw error
        case .taken: throw CancellationError()
        }
    }
}

/// What is known of a response beside itself.
struct ResponseRemarks: Sendable {
    var lacksClientCertificate = false
    var proxyChallenge: ProxyChallenge?

    /// A response that has been read, for those who read content piece by piece.
    func streamed(_ response: HTTPResponse) -> StreamedResponse {
        let trailers = response.trailers.isEmpty ? nil : Guarded(response.trailers)
        let body = ResponseBody(storage: .data(response.body), trailers: trailers)
        var streamed = StreamedResponse(head: response.head, body: body)
        streamed.lacksClientCertificate = lacksClientCertificate
        streamed.proxyChallenge = proxyChallenge
        return streamed
    }
}

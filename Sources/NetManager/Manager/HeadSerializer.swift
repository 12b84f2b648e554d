import HTTPMessage
import Serializers

/// Reads what a response to HEAD says: its head.
///
/// Only the status is judged. A content type speaks of a content that is not there.
struct HeadSerializer: ResponseSerializer, LibrarySerializer {
    var validation: ResponseValidation

    init(_ serializer: some ResponseSerializer) {
        validation = serializer.validation
    }

    func serialize(_ response: HTTPResponse) throws(SerializationError) -> HTTPResponse.Head {
        let status = response.head.status
        guard validation.acceptableStatusCodes?.contains(status) ?? true else {
            throw .unacceptableStatus(status, underlying: nil)
        }
        return response.head
    }
}

import Serializers

// The names and values are AFNetworking's, so that code which was moved over compiles and compares as it did.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of errors about parameters that could not be written.
public let AFURLRequestSerializationErrorDomain = ErrorNumber.requestDomain

/// The domain of errors about responses that were not accepted.
public let AFURLResponseSerializationErrorDomain = ErrorNumber.responseDomain

/// The key, in an error's `userInfo`, of the `HTTPURLResponse` that the error is about.
public let AFNetworkingOperationFailingURLResponseErrorKey =
    "com.alamofire.serialization.response.error.response"

/// The key, in an error's `userInfo`, of the `Data` that came as the response's body.
public let AFNetworkingOperationFailingURLResponseDataErrorKey =
    "com.alamofire.serialization.response.error.data"

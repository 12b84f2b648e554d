import CCurl
import CCurlShims

/// A list of texts that is being made for libcurl, and freed unless it is handed over.
struct CurlList: ~Copyable {
    private var first: UnsafeMutablePointer<curl_slist>?

    /// Makes an empty list.
    init() {}

    deinit {
        curl_slist_free_all(first)
    }

    /// Adds a text, which is copied.
    /// - Throws: `outOfMemory`; without that, a list that is too short would be taken for the whole one.
    mutating func append(_ text: String) throws(TransferFailure) {
        guard let longer = curl_slist_append(first, text) else { throw .outOfMemory }
        first = longer
    }

    /// Hands the list over to who frees it; nil for an empty one.
    consuming func take() -> UnsafeMutablePointer<curl_slist>? {
        let list = first
        first = nil
        return list
    }
}

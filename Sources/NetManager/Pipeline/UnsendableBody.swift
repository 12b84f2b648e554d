/// Underneath an error: the request's body was longer or shorter than declared, failed while it was drawn, or would
/// have been needed a second time.
///
/// It tells such a request from one that is wrong by itself, for those who give errors numbers.
package struct UnsendableBody: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "The body could not be sent as declared, or not a second time." }
}

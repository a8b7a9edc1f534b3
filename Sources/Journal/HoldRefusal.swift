/// Why pipelines are not held, or not any more: a sentence with its remedy.
package struct HoldRefusal: Error, Sendable, Equatable {
    package let message: String
    init(_ message: String) { self.message = message }
}

/// Why hours cannot be used: a sentence without a final stop, with the remedy.
package struct HoursProblem: Error, Hashable, Sendable {
    package let message: String
    /// Which entry of the list it is about; nil: the list.
    package let entry: Int?

    init(_ message: String, entry: Int? = nil) { (self.message, self.entry) = (message, entry) }
}

/// Why a time zone cannot be had: a sentence without a final stop.
package struct TimeZoneProblem: Error, Hashable, Sendable {
    package let message: String

    init(_ message: String) { self.message = message }
}

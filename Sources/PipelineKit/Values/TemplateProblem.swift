/// Why a template cannot be used: a sentence.
package struct TemplateProblem: Error, Hashable, Sendable {
    package let message: String

    init(_ message: String) { self.message = message }
}

/// Has put on record that a wish was refused which was made to a program that asks for others.
package enum RefusedVerb: ControlVerb {
    package static let name = "refused"
    package static let isChange = true

    package struct Arguments: Codable, Equatable, Sendable {
        /// What was wished for, as one of these verbs and its arguments as JSON.
        package var verb: String
        package var arguments: String
        /// Why it was refused.
        package var text: String

        package init(verb: String, arguments: String, text: String) {
            (self.verb, self.arguments, self.text) = (verb, arguments, text)
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// Whether it is on record: many are not.
        package var recorded: Bool

        package init(recorded: Bool) {
            self.recorded = recorded
        }
    }
}

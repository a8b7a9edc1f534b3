/// Sends test notifications, which say that nothing has happened.
package enum NotifyVerb: ControlVerb {
    package static let name = "notify"
    package static let isChange = true
    /// Longer than one message may take.
    package static let patience = 80

    package struct Arguments: Codable, Equatable, Sendable {
        /// The entry of `notify` to try, counted from 1; nil: all.
        package var entry: Int?

        package init(entry: Int? = nil) {
            self.entry = entry
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        package var outcomes: [Outcome]

        package init(outcomes: [Outcome]) {
            self.outcomes = outcomes
        }
    }

    package struct Outcome: Codable, Equatable, Sendable {
        /// The entry, counted from 1.
        package var entry: Int
        /// Where it went, without secrets.
        package var to: String
        /// Whether the other side has it.
        package var taken: Bool
        /// What it said.
        package var said: String

        package init(entry: Int, to: String, taken: Bool, said: String) {
            (self.entry, self.to, self.taken, self.said) = (entry, to, taken, said)
        }

        package var text: String { "notify[\(entry)] (\(to)): \(taken ? "sent" : "not sent"): \(said)" }
    }

    package static func result(_ answer: Answer) -> String {
        answer.outcomes.map(\.text).joined(separator: "; ")
    }
}

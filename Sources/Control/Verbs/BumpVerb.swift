/// Puts what waits first or last in its line.
package enum BumpVerb: ControlVerb {
    package static let name = "bump"
    package static let isChange = true

    package struct Arguments: Codable, Equatable, Sendable {
        package var waiting: Waiting
        package var isLast = false

        package init(waiting: Waiting, isLast: Bool = false) {
            (self.waiting, self.isLast) = (waiting, isLast)
        }
    }

    package enum Waiting: Codable, Equatable, Sendable {
        /// A job's id.
        case job(String)
        case drop(DropVerb.Arguments)
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// Where it is now.
        package var text: String

        package init(text: String) {
            self.text = text
        }
    }

    package static func result(_ answer: Answer) -> String { answer.text }
}

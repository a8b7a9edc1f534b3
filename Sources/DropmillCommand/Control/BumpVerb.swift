/// Puts what waits first or last in its line.
enum BumpVerb: ControlVerb {
    static let name = "bump"
    static let isChange = true

    struct Arguments: Codable, Equatable {
        var waiting: Waiting
        var isLast = false
    }

    enum Waiting: Codable, Equatable {
        /// A job's id.
        case job(String)
        case drop(DropVerb.Arguments)
    }

    struct Answer: Codable, Equatable {
        /// Where it is now.
        var text: String
    }

    static func result(_ answer: Answer) -> String { answer.text }
}

/// Calls jobs off.
enum CancelVerb: ControlVerb {
    static let name = "cancel"
    static let isChange = true

    struct Arguments: Codable, Equatable {
        /// Ids.
        var jobs: [String]
    }

    struct Answer: Codable, Equatable {
        /// For each of them, in order.
        var results: [Result]
    }

    struct Result: Codable, Equatable {
        var job: String
        var isCancelled: Bool
        var text: String
    }

    static func result(_ answer: Answer) -> String {
        answer.results.map { "\($0.job): \($0.text)" }.joined(separator: "; ")
    }
}

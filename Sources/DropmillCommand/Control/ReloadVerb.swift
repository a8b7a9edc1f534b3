/// Has the daemon read its pipeline files again.
enum ReloadVerb: ControlVerb {
    static let name = "reload"
    static let isChange = true

    typealias Arguments = Nothing

    struct Answer: Codable, Equatable {
        /// What became of each pipeline; nil where nothing was changed.
        var changes: [Change]?
        /// Why nothing was changed.
        var problems: [String] = []
    }

    struct Change: Codable, Equatable {
        var pipeline: String
        var text: String
    }

    static func result(_ answer: Answer) -> String {
        guard let changes = answer.changes else { return "refused: \(answer.problems.joined(separator: "; "))" }
        return changes.map { "\($0.pipeline): \($0.text)" }.joined(separator: "; ")
    }
}

/// Has the daemon read its pipeline files again.
enum ReloadVerb: ControlVerb {
    static let name = "reload"
    static let isChange = true

    typealias Arguments = Nothing

    struct Answer: Codable, Equatable {
        /// What became of each pipeline; nil where nothing was changed.
        var changes: [Change]?
        /// Which of the daemon's own settings were changed.
        var settings: [String]?
        /// What a person should see to: nil if nothing.
        var warnings: [String]?
        /// Why nothing was changed.
        var problems: [String] = []
        /// Whether that is because the daemon is about to end: nil where it is not.
        var stopping: Bool?
    }

    struct Change: Codable, Equatable {
        var pipeline: String
        var text: String
    }

    static func result(_ answer: Answer) -> String {
        guard answer.changes != nil else { return "refused: \(answer.problems.joined(separator: "; "))" }
        return answer.lines.joined(separator: "; ")
    }
}

extension ReloadVerb.Answer {
    /// What was taken, line by line.
    var lines: [String] {
        let settings = settings ?? []
        return (changes ?? []).map { "\($0.pipeline): \($0.text)" }
            + (settings.isEmpty ? [] : ["settings: changed (\(settings.joined(separator: ", ")))"])
    }
}

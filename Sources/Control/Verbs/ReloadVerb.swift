/// Has the daemon read its pipeline files again.
package enum ReloadVerb: ControlVerb {
    package static let name = "reload"
    package static let isChange = true

    package typealias Arguments = Nothing

    package struct Answer: Codable, Equatable, Sendable {
        /// What became of each pipeline; nil where nothing was changed.
        package var changes: [Change]?
        /// Which of the daemon's own settings were changed.
        package var settings: [String]?
        /// What a person should see to: nil if nothing.
        package var warnings: [String]?
        /// Why nothing was changed.
        package var problems: [String] = []
        /// Whether that is because the daemon is about to end: nil where it is not.
        package var stopping: Bool?

        package init(
            changes: [Change]? = nil, settings: [String]? = nil, warnings: [String]? = nil, problems: [String] = [],
            stopping: Bool? = nil
        ) {
            self.changes = changes
            self.settings = settings
            self.warnings = warnings
            self.problems = problems
            self.stopping = stopping
        }
    }

    package struct Change: Codable, Equatable, Sendable {
        package var pipeline: String
        package var text: String

        package init(pipeline: String, text: String) {
            (self.pipeline, self.text) = (pipeline, text)
        }
    }

    package static func result(_ answer: Answer) -> String {
        guard answer.changes != nil else { return "refused: \(answer.problems.joined(separator: "; "))" }
        return answer.lines.joined(separator: "; ")
    }
}

extension ReloadVerb.Answer {
    /// What was taken, line by line.
    package var lines: [String] {
        let settings = settings ?? []
        return (changes ?? []).map { "\($0.pipeline): \($0.text)" }
            + (settings.isEmpty ? [] : ["settings: changed (\(settings.joined(separator: ", ")))"])
    }
}

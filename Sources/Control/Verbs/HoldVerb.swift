package import Files
package import Journal

/// Pauses or drains pipelines, or lets them go on.
package enum HoldVerb: ControlVerb {
    package static let name = "hold"
    package static let isChange = true

    package struct Arguments: Codable, Equatable, Sendable {
        /// Nil: not any more.
        package var kind: HoldRecord.Kind?
        /// Without any: all.
        package var pipelines: [String]
        package var reason: String
        /// For how many seconds; nil: until it is lifted.
        package var seconds: Double?
        /// The node; nil: all.
        package var node: String?

        package init(
            kind: HoldRecord.Kind? = nil, pipelines: [String], reason: String, seconds: Double? = nil,
            node: String? = nil
        ) {
            self.kind = kind
            self.pipelines = pipelines
            self.reason = reason
            self.seconds = seconds
            self.node = node
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// What became of each pipeline.
        package var lines: [String]
        /// What goes on to hold what was to be released on one node; nil if nothing.
        package var kept: [String]?

        package init(lines: [String], kept: [String]? = nil) {
            (self.lines, self.kept) = (lines, kept)
        }

        package init(_ change: HoldChange, at now: Timestamp = .now()) {
            let rest = change.rest(at: now)
            self.init(lines: change.lines, kept: rest.isEmpty ? nil : rest)
        }
    }

    package static func result(_ answer: Answer) -> String {
        let lines = answer.lines + (answer.kept ?? [])
        return lines.isEmpty ? "nothing was held" : lines.joined(separator: "; ")
    }
}

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

        package init(kind: HoldRecord.Kind? = nil, pipelines: [String], reason: String, seconds: Double? = nil) {
            self.kind = kind
            self.pipelines = pipelines
            self.reason = reason
            self.seconds = seconds
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// What became of each pipeline.
        package var lines: [String]

        package init(lines: [String]) {
            self.lines = lines
        }
    }

    package static func result(_ answer: Answer) -> String {
        answer.lines.isEmpty ? "nothing was held" : answer.lines.joined(separator: "; ")
    }
}

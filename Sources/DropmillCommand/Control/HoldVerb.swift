import Journal

/// Pauses or drains pipelines, or lets them go on.
enum HoldVerb: ControlVerb {
    static let name = "hold"
    static let isChange = true

    struct Arguments: Codable, Equatable {
        /// Nil: not any more.
        var kind: HoldRecord.Kind?
        /// Without any: all.
        var pipelines: [String]
        var reason: String
        /// For how many seconds; nil: until it is lifted.
        var seconds: Double?
    }

    struct Answer: Codable, Equatable {
        /// What became of each pipeline.
        var lines: [String]
    }

    static func result(_ answer: Answer) -> String {
        answer.lines.isEmpty ? "nothing was held" : answer.lines.joined(separator: "; ")
    }
}

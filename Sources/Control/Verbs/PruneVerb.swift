/// Removes originals that are to be kept no longer, or says which these are: a few, and where to go on.
package enum PruneVerb: ControlVerb {
    package static let name = "prune"
    package static let isChange = true

    package struct Arguments: Codable, Equatable, Sendable {
        /// Of this pipeline alone; nil: of all.
        package var pipeline: String?
        /// Whether nothing is to be removed.
        package var isDry: Bool
        /// Where to go on, as it was answered; nil: from the beginning.
        package var cursor: String?

        package init(pipeline: String?, isDry: Bool, cursor: String? = nil) {
            (self.pipeline, self.isDry, self.cursor) = (pipeline, isDry, cursor)
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        package var removed: [Original] = []
        /// How many are not as they were left, have other names, or were removed by others.
        package var changed = 0
        package var linked = 0
        package var gone = 0
        /// What could not be done.
        package var troubles: [String] = []
        /// Where to go on; nil: that was all.
        package var cursor: String?

        package init() {}
    }

    package struct Original: Codable, Equatable, Sendable {
        package var pipeline: String
        package var job: String
        package var path: String
        package var bytes: Int64
        /// When its job ended, in nanoseconds since 1970.
        package var since: Int64
        /// Why it goes: `processed: age 90d`.
        package var rule: String

        package init(pipeline: String, job: String, path: String, bytes: Int64, since: Int64, rule: String) {
            (self.pipeline, self.job, self.path) = (pipeline, job, path)
            (self.bytes, self.since, self.rule) = (bytes, since, rule)
        }
    }

    /// Only the first request is on record; the removal goes on for as long as the client asks.
    package static func result(_ answer: Answer) -> String { "begun; 'dropmill show' tells of each that is gone" }
}

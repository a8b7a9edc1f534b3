/// What would be refused of a change of jobs; nothing is changed.
package enum PreviewVerb: ControlVerb {
    package static let name = "preview"
    /// Work folders are looked into.
    package static let patience = 20

    package enum Change: String, Codable {
        case cancel, release, forget
    }

    package struct Arguments: Codable, Equatable, Sendable {
        package var change: Change
        /// Ids.
        package var jobs: [String]

        package init(change: Change, jobs: [String]) {
            (self.change, self.jobs) = (change, jobs)
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// For each of them, in order.
        package var results: [Result]

        package init(results: [Result]) {
            self.results = results
        }
    }

    package struct Result: Codable, Equatable, Sendable {
        package var job: String
        /// Why it would stay as it is; nil where it would not.
        package var refusal: String?

        package init(job: String, refusal: String? = nil) {
            (self.job, self.refusal) = (job, refusal)
        }
    }
}

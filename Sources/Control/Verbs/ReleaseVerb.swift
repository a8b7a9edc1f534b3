/// Sends the drops of unfinished jobs back to their inboxes.
package enum ReleaseVerb: ControlVerb {
    package static let name = "release"
    package static let isChange = true

    package struct Arguments: Codable, Equatable, Sendable {
        /// Ids.
        package var jobs: [String]

        package init(jobs: [String]) {
            self.jobs = jobs
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
        package var isReleased: Bool
        package var text: String

        package init(job: String, isReleased: Bool, text: String) {
            self.job = job
            self.isReleased = isReleased
            self.text = text
        }
    }

    package static func result(_ answer: Answer) -> String {
        answer.results.map { "\($0.job): \($0.text)" }.joined(separator: "; ")
    }
}

/// Calls jobs off.
package enum CancelVerb: ControlVerb {
    package static let name = "cancel"
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
        /// Why it is not on record that they are cancelled; nil where it is.
        package var problem: String?

        package init(results: [Result], problem: String? = nil) {
            (self.results, self.problem) = (results, problem)
        }
    }

    package struct Result: Codable, Equatable, Sendable {
        package var job: String
        package var isCancelled: Bool
        package var text: String

        package init(job: String, isCancelled: Bool, text: String) {
            self.job = job
            self.isCancelled = isCancelled
            self.text = text
        }
    }

    package static func result(_ answer: Answer) -> String {
        let lines = answer.results.map { "\($0.job): \($0.text)" } + [answer.problem].compactMap { $0 }
        return lines.joined(separator: "; ")
    }
}

import PipelineEngine
import PipelineKit

/// Sends the drops of unfinished jobs back to their inboxes.
enum ReleaseVerb: ControlVerb {
    static let name = "release"
    static let isChange = true

    struct Arguments: Codable, Equatable {
        /// Ids.
        var jobs: [String]
    }

    struct Answer: Codable, Equatable {
        /// For each of them, in order.
        var results: [Result]
    }

    struct Result: Codable, Equatable {
        var job: String
        var isReleased: Bool
        var text: String
    }

    static func result(_ answer: Answer) -> String {
        answer.results.map { "\($0.job): \($0.text)" }.joined(separator: "; ")
    }
}

extension ReleaseVerb.Result {
    init(_ id: JobID, _ outcome: Releasing) {
        self.init(job: id.text, isReleased: outcome.isReleased, text: outcome.text)
    }
}

import PipelineEngine
import PipelineKit

/// Calls jobs off.
enum CancelVerb: ControlVerb {
    static let name = "cancel"
    static let isChange = true

    struct Arguments: Codable, Equatable {
        /// Ids.
        var jobs: [String]
    }

    struct Answer: Codable, Equatable {
        /// For each of them, in order.
        var results: [Result]
        /// Why it is not on record that they are cancelled; nil where it is.
        var problem: String?
    }

    struct Result: Codable, Equatable {
        var job: String
        var isCancelled: Bool
        var text: String
    }

    static func result(_ answer: Answer) -> String {
        let lines = answer.results.map { "\($0.job): \($0.text)" } + [answer.problem].compactMap { $0 }
        return lines.joined(separator: "; ")
    }
}

extension CancelVerb.Result {
    init(_ id: JobID, _ outcome: CallingOff) {
        self.init(job: id.text, isCancelled: outcome.isCalledOff, text: outcome.text)
    }
}

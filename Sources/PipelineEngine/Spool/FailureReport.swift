package import Files
import FoundationEssentials
package import PipelineKit

/// What `NAME.error.json` beside a failed original says.
package struct FailureReport: Sendable, Encodable {
    let summary: String
    var remedy: String
    let job: String
    let pipeline: String
    let stage: String?
    let attempts: Int
    let code: String
    let detail: String
    let droppedAt: String
    let failedAt: String

    private enum CodingKeys: String, CodingKey {
        case summary, remedy, job, pipeline, stage, attempts, code, detail
        case droppedAt = "dropped_at"
        case failedAt = "failed_at"
    }

    /// The report of a job. `stage`: the kind of the stage that failed; nil where none had begun.
    package init(_ failure: Failure, of job: Job, stage: String?, attempts: Int, at time: Timestamp) {
        summary = failure.summary
        remedy = failure.remedy
        self.job = job.id.text
        pipeline = job.pipeline
        self.stage = stage
        self.attempts = attempts
        code = failure.code
        detail = failure.detail
        droppedAt = job.drop.droppedAt.iso8601
        failedAt = time.iso8601
    }

    /// The file's text: JSON for people, its keys in the order of the alphabet.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        } catch {
            // Nothing but text and numbers is in it, so this is never seen; a reason in plain words beats none.
            return "\(summary) \(remedy)\n"
        }
    }
}

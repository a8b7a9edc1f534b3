package import Journal
package import PipelineKit

/// What may be done with a job now, or why it may not, as far as the journal tells; files may have gone since.
package struct JobChoices {
    /// In the order in which they are offered; nil: it may be done.
    package let all: [(verb: String, refusal: String?)]

    /// `retries`: the jobs that it led to; `isHeld`: whether a person holds its pipeline; `node`: which the daemon is
    /// that is asked, where several share the journal.
    package init(_ record: JobRecord, retries: [JobRecord], isHeld: Bool, node: String? = nil) {
        switch record.state {
        case .failed:
            all = [
                ("retry", Self.refusalToRetry(record, retries)), ("dismiss", Self.refusalToDismiss(record, retries)),
            ]
        case .processed:
            all = [("replay", record.original == nil ? "its original was not kept" : nil)]
        case .lost: all = []
        case .queued, .running, .deferred, .settling:
            if let other = record.node, let node, other != node {
                let refusal =
                    "the node '\(other)' has it, and this page asks '\(node)'; on a command line --journal asks any"
                all = ["cancel", "bump", "release"].map { ($0, refusal) }
                return
            }
            all = [
                ("cancel", Self.refusal(record)), ("bump", Self.refusalToBump(record)),
                ("release", Self.refusalToRelease(record, isHeld: isHeld)),
            ]
        }
    }

    /// One object: a verb with `true`, or with the reason.
    package func write(_ json: inout JSONText) {
        for (verb, refusal) in all {
            if let refusal { json.text(verb, refusal) } else { json.flag(verb, true) }
        }
    }

    private static func refusalToRetry(_ record: JobRecord, _ retries: [JobRecord]) -> String? {
        if let reason = refusalOnceMore(record, retries) { return reason }
        return record.original == nil ? "its original is unknown; drop it again" : nil
    }

    private static func refusalToDismiss(_ record: JobRecord, _ retries: [JobRecord]) -> String? {
        if record.isCancelled { return "it was cancelled, which is no failure" }
        return refusalOnceMore(record, retries) ?? record.dismissed.map { Dismissing.already($0).text }
    }

    /// Why a failure is nobody's to look at any more.
    private static func refusalOnceMore(_ record: JobRecord, _ retries: [JobRecord]) -> String? {
        if record.isReleased { return "it was released: its drop went back to its inbox" }
        return retries.first.map { "it was already retried, as \($0.id.text)" }
    }

    /// Why nothing at all can be done with an unfinished job.
    private static func refusal(_ record: JobRecord) -> String? {
        if record.failure?.isCancel ?? false { return "it is cancelled" }
        return record.state == .settling ? "too late: it is being settled" : nil
    }

    private static func refusalToBump(_ record: JobRecord) -> String? {
        switch record.state {
        case .deferred: "it waits for its next attempt"
        case .running: "its stage is running"
        default: refusal(record)
        }
    }

    private static func refusalToRelease(_ record: JobRecord, isHeld: Bool) -> String? {
        if let refusal = refusal(record) { return refusal }
        if record.state == .running { return "a stage of it is running; try again once that has ended, or cancel it" }
        return isHeld ? nil : "'\(record.pipeline)' would claim its drop again at once; pause it first"
    }
}

package import Files
package import PipelineKit

/// Which jobs the journal keeps no longer: those that ended before these times.
package struct HistoryLimits: Sendable, Equatable {
    package var processed: Timestamp
    /// Those that were lost, too.
    package var failed: Timestamp
    /// Those that a person called off or released.
    package var cancelled: Timestamp

    package init(_ rule: HistoryRule, at now: Timestamp) {
        processed = now.before(rule.processed)
        failed = now.before(rule.failed)
        cancelled = now.before(rule.cancelled)
    }

    /// The same time for all.
    package init(before time: Timestamp) { (processed, failed, cancelled) = (time, time, time) }

    /// The latest of them: nothing that ended after it goes.
    package var latest: Timestamp { max(processed, failed, cancelled) }

    /// Before when such a job must have ended.
    private func limit(of job: JobRecord) -> Timestamp {
        switch job.state {
        case .processed: processed
        case .failed where job.isCancelled || job.isReleased: cancelled
        default: failed
        }
    }

    /// Whether it goes. Ids never go back; a clock that was wrong when the job ended does.
    package func holds(for job: JobRecord) -> Bool {
        guard job.state.isFinal, let end = job.finishedAt else { return false }
        let limit = limit(of: job)
        return end < limit && job.id < .first(at: limit)
    }
}

extension Timestamp {
    /// So long before this one, or the earliest that there is.
    package func before(_ time: Duration) -> Timestamp {
        let (earlier, isBeyond) = nanoseconds.subtractingReportingOverflow(time.nanoseconds)
        return Timestamp(nanoseconds: isBeyond ? (time < .zero ? .max : .min) : earlier)
    }
}

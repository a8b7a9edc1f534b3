import Files
package import PipelineKit

/// What becomes of a job that a person dismisses.
package enum Dismissing: Sendable, Equatable {
    case dismissed
    /// Somebody did before.
    case already(Dismissal)
    /// It stays as it is: why.
    case refused(String)

    /// Whether it is out of the count of failures.
    package var isDismissed: Bool { if case .refused = self { false } else { true } }

    package var text: String {
        switch self {
        case .dismissed: "dismissed"
        case .already(let dismissal): "was dismissed already, by \(dismissal.by) on \(dismissal.at.iso8601)"
        case .refused(let reason): reason
        }
    }
}

extension Journal {
    /// Takes failed jobs out of those that are somebody's to look at, and says what became of each. No file is touched.
    package func dismiss(_ ids: [JobID], _ dismissal: Dismissal) throws(JournalError) -> [Dismissing] {
        let before = try ids.map { id throws(JournalError) in try obstacle(toDismissing: id) }
        let dismissed = try setDismissed(zip(ids, before).filter { $1 == nil }.map(\.0), dismissal)
        return zip(ids, before).map { id, obstacle in
            obstacle ?? (dismissed.contains(id) ? .dismissed : .refused("it has just been sent in again"))
        }
    }
}

extension JournalReading {
    /// What keeps a job from being dismissed; nil where nothing does.
    package func obstacle(toDismissing id: JobID) throws(JournalError) -> Dismissing? {
        guard let job = try job(id) else { return .refused("no such job is on record") }
        switch job.state {
        case .failed where job.isReleased: return .refused("it was released, which is no failure")
        case .failed where job.isCancelled: return .refused("it was cancelled, which is no failure")
        case .failed: break
        case .processed, .lost: return .refused("it has not failed: it is \(job.word)")
        default: return .refused("it is not over; 'dropmill cancel \(id.text)' ends it")
        }
        var query = JobQuery()
        (query.retryOf, query.limit) = (id, 1)
        if let next = try jobs(query).first {
            return .refused("it was already retried, as \(next.id.text), which is \(next.word)")
        }
        return job.dismissed.map { .already($0) }
    }
}

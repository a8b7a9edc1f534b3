package import Files
package import Journal
package import PipelineKit
import Synchronization
package import SystemPackage

/// The journal as a running daemon tells of it, for those who may not open the file.
package final class DaemonJournal: JournalReading {
    private let folder: FilePath
    /// What was asked for once is the same to the end.
    private let status = Mutex<StatusVerb.Answer?>(nil)

    package init(of folder: FilePath) { self.folder = folder }

    package func lastRun() throws(JournalError) -> RunRecord? {
        guard let run = try standing().run else { return nil }
        return try read([run], \.run).first
    }

    package func pipelines() throws(JournalError) -> [PipelineRecord] { try read(standing().pipelines, \.pipeline) }
    package func counts() throws(JournalError) -> [JobCount] { try read(standing().counts, \.count) }
    package func holds() throws(JournalError) -> [HoldRecord] { try read(standing().holds, \.hold) }

    package func tellingNode() throws(JournalError) -> String? { try standing().node }

    package func failureGroups(
        of pipeline: String?, since time: Timestamp?, at now: Timestamp
    ) throws(JournalError) -> FailureGroups {
        let answer = try ask(FailuresVerb.self, .init(pipeline: pipeline, since: time?.nanoseconds))
        guard let failures = answer.failures else { throw Self.malformed }
        return failures
    }

    package func unfinished() throws(JournalError) -> [JobRecord] {
        var query = JobQuery()
        query.states = JobRecord.State.unfinished
        return try jobs(query).sorted { $0.id < $1.id }
    }

    package func job(_ id: JobID) throws(JournalError) -> JobRecord? {
        var query = JobQuery()
        query.idPrefix = id.text
        return try jobs(query).first
    }

    /// Each page begins with what was claimed when the last job of the one before was, without those that are known:
    /// jobs that come meanwhile move nothing.
    package func jobs(_ query: JobQuery) throws(JournalError) -> [JobRecord] {
        var (rest, found) = (query, [JobRecord]())
        var skip = 0
        while query.limit.map({ found.count < $0 }) ?? true {
            rest.limit = query.limit.map { $0 - found.count }
            let page = try ask(JobsVerb.self, .init(rest, skip: skip))
            found += try read(page.records, \.job)
            if let horizon = page.horizon {
                (rest.until, skip) = (Timestamp(nanoseconds: horizon), 0)
                continue
            }
            guard page.more, !page.records.isEmpty, let last = found.last?.claimedAt else { break }
            rest.until = Timestamp(nanoseconds: last.nanoseconds.addingSaturated(1))
            skip = found.reversed().prefix { $0.claimedAt == last }.count
        }
        return found
    }

    package func audit(_ query: AuditQuery) throws(JournalError) -> [AuditEntry] {
        var found: [AuditEntry] = []
        while found.count < query.limit {
            var arguments = AuditVerb.Arguments(query)
            arguments.limit = query.limit - found.count
            arguments.before = found.last?.number ?? query.before
            let page = try ask(AuditVerb.self, arguments)
            found += try read(page.records, \.audit)
            guard page.more, !page.records.isEmpty else { break }
        }
        return found
    }

    private func standing() throws(JournalError) -> StatusVerb.Answer {
        if let known = status.withLock({ $0 }) { return known }
        let answer = try ask(StatusVerb.self, Nothing())
        status.withLock { $0 = answer }
        return answer
    }

    private func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments
    ) throws(JournalError) -> Verb.Answer {
        do throws(ControlClient.Problem) {
            return try ControlClient.ask(verb, arguments, in: folder)
        } catch {
            throw JournalError(.environment, error.message)
        }
    }

    private func read<Record>(
        _ values: [JSONValue], _ read: (JSONValue) -> Record?
    ) throws(JournalError) -> [Record] {
        try values.map { value throws(JournalError) in
            guard let record = read(value) else { throw Self.malformed }
            return record
        }
    }

    private static var malformed: JournalError {
        JournalError(.environment, "the daemon's answer is malformed; it may be a different version, so restart it")
    }
}

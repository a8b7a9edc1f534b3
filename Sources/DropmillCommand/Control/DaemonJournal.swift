import Files
import Journal
import PipelineKit
import Synchronization
import SystemPackage

/// The journal as a running daemon tells of it, for those who may not open the file.
final class DaemonJournal: JournalReading {
    private let folder: FilePath
    /// What was asked for once is the same to the end.
    private let status = Mutex<StatusVerb.Answer?>(nil)

    init(of folder: FilePath) { self.folder = folder }

    func lastRun() throws(JournalError) -> RunRecord? {
        guard let run = try standing().run else { return nil }
        return try read([run], \.run).first
    }

    func pipelines() throws(JournalError) -> [PipelineRecord] { try read(standing().pipelines, \.pipeline) }
    func counts() throws(JournalError) -> [JobCount] { try read(standing().counts, \.count) }
    func holds() throws(JournalError) -> [HoldRecord] { try read(standing().holds, \.hold) }

    func unfinished() throws(JournalError) -> [JobRecord] {
        var query = JobQuery()
        query.states = JobRecord.State.unfinished
        return try jobs(query).sorted { $0.id < $1.id }
    }

    func job(_ id: JobID) throws(JournalError) -> JobRecord? {
        var query = JobQuery()
        query.idPrefix = id.text
        return try jobs(query).first
    }

    /// Each page begins with what was claimed when the last job of the one before was, without those that are known:
    /// jobs that come meanwhile move nothing.
    func jobs(_ query: JobQuery) throws(JournalError) -> [JobRecord] {
        var (rest, found) = (query, [JobRecord]())
        var skip = 0
        while query.limit.map({ found.count < $0 }) ?? true {
            rest.limit = query.limit.map { $0 - found.count }
            let page = try ask(JobsVerb.self, .init(rest, skip: skip))
            found += try read(page.records, \.job)
            guard page.more, !page.records.isEmpty, let last = found.last?.claimedAt else { break }
            rest.until = Timestamp(nanoseconds: last.nanoseconds.addingSaturated(1))
            skip = found.reversed().prefix { $0.claimedAt == last }.count
        }
        return found
    }

    func audit(since: Timestamp?, limit: Int, skip: Int) throws(JournalError) -> [AuditEntry] {
        var found: [AuditEntry] = []
        while found.count < limit {
            let page = try ask(
                AuditVerb.self, .init(since: since?.nanoseconds, limit: limit - found.count, skip: skip + found.count))
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
            guard let record = read(value) else {
                throw JournalError(
                    .environment, "the daemon's answer is malformed; it may be a different version, so restart it")
            }
            return record
        }
    }
}

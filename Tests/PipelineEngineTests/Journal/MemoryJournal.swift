import Files
import PipelineKit
import Synchronization
import SystemPackage

@testable import Journal

/// A journal that forgets: it shows that the contract does not depend on SQLite, and lets tests of what stands on the
/// journal see each transaction and make one fail.
final class MemoryJournal: EngineJournal, Sendable {
    struct Note {
        var job: JobID
        var file: SentFile
        var at = Timestamp.now()
    }

    struct Contents {
        /// Which jobs another node has taken over by the time that this is to be written of them.
        var isFenced: (@Sendable (JobRecord) -> Bool)?
        /// Whether the lease holds.
        var mayAct: (@Sendable () -> Bool)?
        var jobs: [JobID: JobRecord] = [:]
        var figures: [String: Figures] = [:]
        var pipelines: [String: PipelineRecord] = [:]
        var runs: [RunRecord] = []
        var retries: [FileIdentity: Note] = [:]
        var replays: [FileIdentity: Note] = [:]
        var holds: [String: HoldRecord] = [:]
        var contents: [(query: SeenQuery, at: Timestamp)] = []
        var archived: ArchiveNote?
        /// The jobs of each transaction that was written.
        var transactions: [[JobRecord]] = []
        /// What the next transactions are to fail with.
        var failures: [JournalError] = []
        /// Called within each transaction, before it is written.
        var whileWriting: (@Sendable () -> Void)?
    }

    let contents = Mutex(Contents())

    var mayAct: Bool { contents.withLock { $0.mayAct }?() ?? true }

    func write(
        _ jobs: [JobRecord], intending: [JobRecord], pipelines: [PipelineRecord]
    ) throws(JournalError) -> Set<JobID> {
        contents.withLock { $0.whileWriting }?()
        let result = contents.withLock { contents -> Result<Set<JobID>, JournalError> in
            guard contents.failures.isEmpty else { return .failure(contents.failures.removeFirst()) }
            let jobs = jobs + intending
            let fenced = Set(jobs.filter { contents.isFenced?($0) ?? false }.map(\.id))
            let own = jobs.filter { !fenced.contains($0.id) }
            contents.transactions.append(own)
            for job in own { Self.put(job, in: &contents) }
            for pipeline in pipelines { contents.pipelines[pipeline.name] = pipeline }
            return .success(fenced)
        }
        return try result.get()
    }

    private static func put(_ job: JobRecord, in contents: inout Contents) {
        var job = job
        if let earlier = contents.jobs[job.id] {
            job.retryOf = job.retryOf ?? earlier.retryOf
            job.replayOf = job.replayOf ?? earlier.replayOf
            job.claimedAt = earlier.claimedAt
            job.dismissed = job.state == earlier.state ? earlier.dismissed : nil
        } else {
            if job.retryOf == nil { job.retryOf = take(job, from: \.retries, in: &contents) }
            if job.replayOf == nil { job.replayOf = take(job, from: \.replays, in: &contents) }
        }
        if job.state.isFinal, contents.jobs[job.id]?.state.isFinal != true {
            contents.figures[job.pipeline, default: Figures()].add(job)
        }
        contents.jobs[job.id] = job
    }

    func figures() throws(JournalError) -> [String: Figures] { contents.withLock { $0.figures } }

    func openFailures() throws(JournalError) -> [String: Int] {
        try counts().filter { $0.state == .failed }.reduce(into: [:]) { $0[$1.pipeline] = $1.count }
    }

    private static func take(
        _ job: JobRecord, from notes: WritableKeyPath<Contents, [FileIdentity: Note]>, in contents: inout Contents
    ) -> JobID? {
        let inbox = contents.pipelines[job.pipeline]?.inbox
        let found = contents[keyPath: notes].values.filter { note in
            note.file.identity.inode == job.identity.inode && note.file.size ?? job.drop.size == job.drop.size
                && (note.file.modified ?? job.modified) == job.modified ?? note.file.modified
                && inbox.map { $0 == note.file.inbox } ?? (contents.jobs[note.job]?.pipeline == job.pipeline)
                && contents.jobs[note.job] != nil
        }
        for note in found { contents[keyPath: notes][note.file.identity] = nil }
        return found.map(\.job).max()
    }

    func beginRun(_ run: RunRecord) throws(JournalError) -> RunRecord? {
        contents.withLock { contents in
            defer { contents.runs.append(run) }
            if let last = contents.runs.last {
                let known = Set(contents.jobs.keys)
                contents.contents.removeAll { $0.at >= last.startedAt && !known.contains($0.query.job) }
            }
            return contents.runs.last
        }
    }

    func audit(_ query: AuditQuery) throws(JournalError) -> [AuditEntry] { [] }

    func endRun() throws(JournalError) {
        contents.withLock { contents in
            if let last = contents.runs.indices.last { contents.runs[last].endedAt = .now() }
        }
    }

    func lastRun() throws(JournalError) -> RunRecord? { contents.withLock { $0.runs.last } }

    func unfinished() throws(JournalError) -> [JobRecord] {
        contents.withLock { $0.jobs.values.filter { !$0.state.isFinal }.sorted { $0.id < $1.id } }
    }

    func job(_ id: JobID) throws(JournalError) -> JobRecord? { contents.withLock { $0.jobs[id] } }

    func jobs(_ query: JobQuery) throws(JournalError) -> [JobRecord] {
        let matching = contents.withLock { contents in
            let again = query.isOpen ? Set(contents.jobs.values.compactMap(\.retryOf)) : []
            return contents.jobs.values.filter { query.matches($0) && !again.contains($0.id) }
        }
        let sorted = matching.sorted { ($0.claimedAt, $0.id) < ($1.claimedAt, $1.id) }
        return Array((query.isOldestFirst ? sorted : sorted.reversed()).prefix(query.limit ?? .max))
    }

    func counts() throws(JournalError) -> [JobCount] {
        let keys = contents.withLock { contents in
            let again = Set(contents.jobs.values.compactMap(\.retryOf))
            let counted = contents.jobs.values.filter { job in
                !again.contains(job.id) && !job.isReleased && !job.isCancelled && job.dismissed == nil
            }
            return counted.map { job in
                JobCount(pipeline: job.pipeline, state: job.state, stage: job.state.isFinal ? 0 : job.stage, count: 0)
            }
        }
        return Dictionary(grouping: keys) { $0 }.map { key, all in
            JobCount(pipeline: key.pipeline, state: key.state, stage: key.stage, count: all.count)
        }
    }

    func failureGroups(
        of pipeline: String?, since time: Timestamp?, at now: Timestamp
    ) throws(JournalError) -> FailureGroups {
        var query = JobQuery()
        (query.isOpen, query.pipeline) = (true, pipeline)
        func end(_ job: JobRecord) -> Timestamp { job.finishedAt ?? job.claimedAt }
        let jobs = try jobs(query).filter { job in
            time.map { FailureGroup.hour(of: $0) <= FailureGroup.hour(of: end(job)) } ?? true
        }.sorted { (end($1), $1.id) < (end($0), $0.id) }
        let alike = Dictionary(grouping: jobs) { [$0.pipeline, $0.failure?.code ?? ""] }
        let groups = alike.compactMap { key, jobs -> FailureGroup? in
            guard let newest = jobs.first, let oldest = jobs.last else { return nil }
            return FailureGroup(
                Array(jobs.prefix(FailureSentence.mostRead)), pipeline: key[0], code: key[1], jobs: jobs.count,
                bytes: jobs.reduce(0) { $0.addingSaturated(max(0, $1.drop.size)) }, first: end(oldest),
                last: end(newest),
                hours: Dictionary(jobs.map { (FailureGroup.hour(of: end($0)), 1) }) { $0 + $1 }, at: now)
        }
        return FailureGroups(
            total: jobs.count,
            groups: groups.sorted { ($1.jobs, $0.pipeline, $0.code) < ($0.jobs, $1.pipeline, $1.code) })
    }

    func setDismissed(_ jobs: [JobID], _ dismissal: Dismissal) throws(JournalError) -> Set<JobID> {
        var query = JobQuery()
        query.isOpen = true
        let open = try self.jobs(query).map(\.id).filter(jobs.contains)
        contents.withLock { contents in for id in open { contents.jobs[id]?.dismissed = dismissal } }
        return Set(open)
    }

    func pipelines() throws(JournalError) -> [PipelineRecord] {
        contents.withLock { $0.pipelines.values.sorted { $0.name < $1.name } }
    }

    func holds() throws(JournalError) -> [HoldRecord] {
        contents.withLock { $0.holds.values.sorted { $0.pipeline < $1.pipeline } }
    }

    func change(_ change: HoldChange) throws(JournalError) {
        contents.withLock { contents in
            for hold in change.lifted where contents.holds[hold.pipeline]?.since == hold.since {
                contents.holds[hold.pipeline] = nil
            }
            for hold in change.held { contents.holds[hold.pipeline] = hold }
        }
    }

    func noteRetry(of job: JobID, as file: SentFile) throws(JournalError) {
        contents.withLock { $0.retries[file.identity] = Note(job: job, file: file) }
    }

    func forgetRetry(of job: JobID, as identity: FileIdentity) throws(JournalError) {
        contents.withLock { contents in
            if contents.retries[identity]?.job == job { contents.retries[identity] = nil }
            if contents.replays[identity]?.job == job { contents.replays[identity] = nil }
        }
    }

    func noteReplay(of job: JobID, as file: SentFile) throws(JournalError) {
        contents.withLock { $0.replays[file.identity] = Note(job: job, file: file) }
    }

    func sentIn() throws(JournalError) -> [(job: JobID, identity: FileIdentity)] {
        contents.withLock { contents in
            (contents.retries.map { $0 } + contents.replays).map { ($0.value.job, $0.key) }
        }
    }

    func first(_ content: SeenQuery, at time: Timestamp) throws(JournalError) -> SeenJob? {
        contents.withLock { contents in
            let found = contents.contents.filter { query, at in
                let state = contents.jobs[query.job]?.state
                return query.content == content.content && query.job != content.job
                    && at >= content.since ?? Timestamp(nanoseconds: .min)
                    && (content.everywhere || query.pipeline == content.pipeline) && state != .failed
                    && state != .lost
            }.map(\.query.job).min()
            let isNoted = contents.contents.contains {
                $0.query.content == content.content && $0.query.job == content.job
            }
            if found == nil, !isNoted { contents.contents.append((content, time)) }
            return found.map { SeenJob($0, isOver: contents.jobs[$0]?.state == .processed) }
        }
    }

    func expired(
        _ limits: HistoryLimits?, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> [ExpiredJob] {
        contents.withLock { contents in
            let old = contents.jobs.values.filter { job in
                job.state.isFinal && job.finishedAt != nil && limits?.holds(for: job) ?? true
            }
            let all = old.map { ExpiredJob($0.id, at: $0.finishedAt ?? .now()) }
            let behind = all.filter { job in last.map { (job.at, job.id) > ($0.at, $0.id) } ?? true }
            return Array(behind.sorted { ($0.at, $0.id) < ($1.at, $1.id) }.prefix(limit))
        }
    }

    func remove(_ jobs: [JobID], noting archived: ArchiveNote?) throws(JournalError) -> Int {
        contents.withLock { contents in
            let old = jobs.filter { contents.jobs[$0]?.state.isFinal ?? false }
            for job in old { contents.jobs[job] = nil }
            contents.archived = archived ?? contents.archived
            return old.count
        }
    }

    func removeNotes(content: Timestamp, others: Timestamp, limit: Int) throws(JournalError) -> Int {
        contents.withLock { contents in
            let count = contents.contents.count
            contents.contents.removeAll { $0.at < content }
            for notes in [\Contents.retries, \.replays] {
                contents[keyPath: notes] = contents[keyPath: notes].filter { $0.value.at >= others }
            }
            return count - contents.contents.count
        }
    }

    func archived() -> ArchiveNote? { contents.withLock { $0.archived } }

    func note(archived: ArchiveNote) { contents.withLock { $0.archived = archived } }

    func finishedCount() -> Int { contents.withLock { $0.jobs.values.count { $0.finishedAt != nil } } }

    func room() -> JournalRoom { JournalRoom(used: 0, free: 0, isElastic: true) }

    func giveBack() -> Bool { false }

    func probe() {}

    func close() {}

    func makeDurable() {}

    func mend(_ run: RunRecord) -> JournalMending? { nil }

    func releaseMemory() {}
}

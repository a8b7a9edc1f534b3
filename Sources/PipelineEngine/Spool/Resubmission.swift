import Files
package import Journal
package import PipelineKit
package import SystemPackage

/// Sends jobs' originals into their inboxes once more, one by one: an error of one does not stop the others.
package struct Resubmission {
    package enum Kind {
        /// Failed originals go back.
        case retry
        /// Copies of processed originals; `again`: also of those that were replayed before, or are replays.
        case replay(SendBack.Verification, again: Bool)

        fileprivate var state: JobRecord.State { if case .retry = self { .failed } else { .processed } }
    }

    package struct Sent {
        package let record: JobRecord
        package let path: FilePath
        /// What could not be tidied up: a sentence, or nil.
        package let leftover: String?
    }

    package struct Problem {
        /// What was asked for: an id or a name.
        package let subject: String
        /// A sentence with its remedy.
        package let message: String
    }

    package private(set) var sent: [Sent] = []
    package private(set) var problems: [Problem] = []
    package let journal: any Journal
    private let kind: Kind
    /// By the names of those who watch them, or did.
    private let inboxes: [String: FilePath]
    private let isStopped: () -> Bool
    /// Whose copies wait in their inboxes; nil until somebody asks.
    private var onTheirWay: Set<JobID>?

    /// Begins with what the journal knows of the pipelines, and of those that are loaded. `isStopped` is polled while
    /// something is copied.
    package init(
        _ journal: any Journal, _ kind: Kind = .retry, loaded: [Pipeline] = [],
        isStopped: @escaping () -> Bool = { false }
    ) throws(JournalError) {
        self.journal = journal
        self.kind = kind
        self.isStopped = isStopped
        let known = Dictionary(try journal.pipelines().map { ($0.name, $0.inbox) }) { first, _ in first }
        inboxes = known.merging(Self.inboxes(of: loaded)) { _, present in present }
    }

    /// What is of a pipeline that has another name now goes where that one watches.
    static func inboxes(of loaded: [Pipeline]) -> [String: FilePath] {
        let former = loaded.compactMap { pipeline in pipeline.formerly.map { ($0, pipeline.inbox) } }
        return Dictionary(loaded.map { ($0.name, $0.inbox) } + former) { present, _ in present }
    }

    /// What was sent and what was not since this was asked for last.
    package mutating func drain() -> (sent: [Sent], problems: [Problem]) {
        defer { (sent, problems) = ([], []) }
        return (sent, problems)
    }

    /// Sends back a job, unless it is none that can be.
    package mutating func send(_ record: JobRecord) throws(JournalError) {
        if try mayBeSent(record) { sendIn(record) }
    }

    /// The same of a job by its id.
    package mutating func send(_ id: JobID) throws(JournalError) {
        guard let record = try journal.job(id) else {
            return reportProblem(id.text, "no job has this id; its record may have been removed by now")
        }
        try send(record)
    }

    /// Calls the body with the failed (or processed) jobs among these whose original is still in its place, oldest
    /// first, as long as that returns true. What was sent in already or dismissed is left out; what is no longer what
    /// was processed is reported.
    package mutating func find(_ wanted: JobQuery, _ body: (JobRecord) -> Bool) throws(JournalError) {
        var query = wanted
        guard query.states.isEmpty || query.states.contains(kind.state) else { return }
        // What somebody cancelled is sent in again by who asks for that.
        if query.states.isEmpty, query.code != Failure.cancelCode { query.isCancelled = false }
        query.states = [kind.state]
        onTheirWay = nil
        var isEmpty = true
        try journal.forEachPage(query) { (page) throws(JournalError) in
            isEmpty = false
            let owners = owners(among: page)
            for record in page {
                guard record.dismissed == nil, let original = record.original,
                    owners[original] ?? record.id == record.id,
                    [.regular, .folder].contains(Folder.kind(of: original)), try refusal(of: record) == nil
                else { continue }
                if let objection = objection(to: record) {
                    report(record, objection)
                } else if !body(record) {
                    return false
                }
            }
            return true
        }
        guard let pipeline = query.pipeline, isEmpty, inboxes[pipeline] == nil else { return }
        let hint = Suggestion.hint(for: pipeline, among: inboxes.keys.sorted())
        let remedy = hint.isEmpty ? "; 'dropmill status' lists those that have run" : hint
        problems.append(Problem(subject: EscapedText.of(pipeline), message: "unknown pipeline\(remedy)"))
    }

    /// Whose copies came into their inboxes, and are not known to have been claimed.
    private func findWaiting() throws(JournalError) -> Set<JobID> {
        var waiting: Set<JobID> = []
        for (id, identity) in try journal.sentIn() where !waiting.contains(id) {
            // Where that cannot be told its copy is taken for sent: it is not to be sent twice.
            if let record = try journal.job(id), let inbox = inboxes[record.pipeline],
                (try? SendBack(inbox: inbox).isHidden(identity, of: record)) ?? false
            {
                continue
            }
            waiting.insert(id)
        }
        return waiting
    }

    /// Of several processed jobs whose original had the same place, the newest one put it there. Of failed ones the
    /// journal says so; and what was processed shows by itself whether it is what it was.
    private func owners(among page: [JobRecord]) -> [FilePath: JobID] {
        guard case .replay = kind else { return [:] }
        return Dictionary(page.compactMap { record in record.original.map { ($0, record.id) } }) { $1 }
    }

    /// Whether a named job can be sent back; where not, that is reported.
    package mutating func mayBeSent(_ record: JobRecord) throws(JournalError) -> Bool {
        guard let reason = try refusal(of: record) ?? objection(to: record) else { return true }
        report(record, reason)
        return false
    }

    /// Why a named job cannot be sent back; nil if it can.
    private mutating func refusal(of record: JobRecord) throws(JournalError) -> String? {
        switch (record.state, kind) {
        case (.processed, .replay(_, let again)): return again ? nil : try repetition(of: record)
        case (.failed, _) where record.failure?.isRelease ?? false:
            return "it was released: its drop went back to '\(record.original?.text ?? "its inbox")'"
        case (.failed, .retry):
            if let end = record.originalEnd, end.event == Transition.pruned {
                return "its original was removed by 'keep'; drop it again"
            }
        case (.failed, .replay): return "it failed; 'dropmill retry \(record.id.text)' sends it in again"
        case (.processed, .retry): return "it was processed; 'dropmill replay \(record.id.text)' sends a copy in"
        case (.lost, _): return "its drop was missing from the work folder; check the inbox"
        default: return "it is not finished; 'dropmill show \(record.id.text)' shows how far it is"
        }
        if let next = try next(of: record) {
            return "it was already retried, as \(next.id.text), which is \(next.word)"
        }
        var query = JobQuery()
        (query.states, query.original, query.limit) = ([.failed], record.original, 1)
        if record.original != nil, let newest = try journal.jobs(query).first, newest.id != record.id {
            return "the file in its place is now the original of \(newest.id.text); retry that job"
        }
        return nil
    }

    /// Why a processed job that nobody named is not replayed: once is enough, and a replay's original is a copy.
    private mutating func repetition(of record: JobRecord) throws(JournalError) -> String? {
        if let next = try next(of: record) {
            return "it was already replayed, as \(next.id.text); name it to replay it again"
        }
        let waiting = if let onTheirWay { onTheirWay } else { try findWaiting() }
        onTheirWay = waiting
        if waiting.contains(record.id) { return "its copy waits in the inbox" }
        var origin = record
        while let earlier = origin.retryOf, earlier < origin.id, let failed = try journal.job(earlier) {
            origin = failed
        }
        return origin.replayOf.map { "it is a replay of \($0.text); name it to replay it" }
    }

    /// Why its original would not be sent in, as far as that shows without reading it.
    private func objection(to record: JobRecord) -> String? {
        guard case .replay = kind else { return nil }
        return SendBack.objection(to: record)?.message
    }

    /// The newest job that it led to when it was sent in before.
    private func next(of record: JobRecord) throws(JournalError) -> JobRecord? {
        var query = JobQuery()
        if case .retry = kind { query.retryOf = record.id } else { query.replayOf = record.id }
        query.limit = 1
        return try journal.jobs(query).first
    }

    /// Sends back a job that may be.
    package mutating func sendIn(_ record: JobRecord) {
        guard let inbox = inboxes[record.pipeline] else {
            return report(
                record,
                "the journal does not know the pipeline '\(record.pipeline)'; run it once, or move the file yourself")
        }
        // What was noted, and did not come into the inbox after all, is taken back: its inode may be another's one day.
        var noted: [FileIdentity] = []
        let original = record.original.flatMap { FileIdentity.of($0) }
        do throws(SendBack.Refusal) {
            let note = { (note: SendBack.Note) throws(SendBack.Refusal) in
                try write(note, of: record)
                if case .comes(let file) = note, noted.last != file.identity { noted.append(file.identity) }
            }
            let sendBack = SendBack(inbox: inbox, isStopped: isStopped)
            let result =
                switch kind {
                case .retry:
                    try sendBack.send(
                        record, earlier: { () throws(SendBack.Refusal) in try earlier(record) }, note: note)
                case .replay(let verify, _): try sendBack.replay(record, verify: verify, note: note)
                }
            var leftover = result.leftover.map { "\($0); remove it by hand" }
            leftover = forget(noted.dropLast(), of: record) ?? leftover
            sent.append(Sent(record: record, path: result.path, leftover: leftover))
        } catch {
            // What is not in its place any more was sent in by another one, whose note this is, too.
            let isThere = record.original.flatMap { FileIdentity.of($0) } == original
            let own = noted.filter { isThere || $0 != original }
            report(record, [error.message, forget(own[...], of: record)].compactMap { $0 }.joined(separator: "; "))
        }
    }

    private func earlier(_ record: JobRecord) throws(SendBack.Refusal) -> [FileIdentity] {
        do throws(JournalError) {
            return try journal.sentIn().filter { $0.job == record.id }.map(\.identity)
        } catch {
            throw SendBack.Refusal(error.message)
        }
    }

    private func write(_ note: SendBack.Note, of record: JobRecord) throws(SendBack.Refusal) {
        do throws(JournalError) {
            switch (note, kind) {
            case (.comes(let file), .retry): try journal.noteRetry(of: record.id, as: file)
            case (.comes(let file), .replay): try journal.noteReplay(of: record.id, as: file)
            case (.isGone(let identity), _): try journal.forgetRetry(of: record.id, as: identity)
            }
        } catch {
            throw SendBack.Refusal(error.message)
        }
    }

    private func forget(_ identities: ArraySlice<FileIdentity>, of record: JobRecord) -> String? {
        do throws(JournalError) {
            for identity in identities { try journal.forgetRetry(of: record.id, as: identity) }
            return nil
        } catch {
            return error.message
        }
    }

    private mutating func report(_ record: JobRecord, _ message: String) {
        reportProblem("\(record.id.text) (\(record.drop.name.text))", message)
    }

    /// Removes from these inboxes, by their pipelines' names, what a kill left of copies that were to come into them.
    package static func removeLeftovers(
        _ journal: any Journal, in inboxes: [String: FilePath]
    ) throws(JournalError) {
        for (id, identity) in try journal.sentIn() {
            guard let record = try journal.job(id), let inbox = inboxes[record.pipeline] else { continue }
            do throws(IOError) {
                guard try SendBack(inbox: inbox).removeLeftover(of: record, as: identity) else { continue }
            } catch {
                // It does no harm, and the next replay removes it first.
                continue
            }
            try journal.forgetRetry(of: id, as: identity)
        }
    }

    /// Notes why one that was asked for stays where it is.
    package mutating func reportProblem(_ subject: String, _ message: String) {
        problems.append(Problem(subject: subject, message: message))
    }
}

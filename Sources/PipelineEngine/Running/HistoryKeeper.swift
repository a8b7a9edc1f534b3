import Files
import Journal
import PipelineKit
import Synchronization
import SystemPackage

/// Takes from the journal the jobs that it is to keep no longer: those whose time is over, and the oldest where there
/// are too many; into an archive before, where there is one. Then the file gives back the room that nothing takes any
/// more. In small steps, between which others write. Its work is done on the queue of housekeeping.
final class HistoryKeeper: Sendable {
    private struct State {
        var rule: HistoryRule
        /// How long content is to be known that came before.
        var memory: Duration
        var isEnding = false
        /// What was told of the archive last.
        var trouble: String?
        var hasAdvised = false
    }

    /// Jobs that one step removes: some 10 ms, for which other writes wait.
    static let batch = 500
    /// Where so much is free in a file that cannot give it back, that is worth a word.
    private static let worthAWord: Int64 = 64 << 20

    private let journal: any HistoryJournal
    private let archive: (any HistoryArchive)?
    private let observer: @Sendable (EngineEvent) -> Void
    private let state: Mutex<State>
    private let clock = Mutex(ClockWatch())

    init(
        _ journal: any HistoryJournal, _ rule: HistoryRule, memory: Duration, archive: (any HistoryArchive)?,
        observer: @escaping @Sendable (EngineEvent) -> Void
    ) {
        (self.journal, self.archive, self.observer) = (journal, archive, observer)
        state = Mutex(State(rule: rule, memory: memory))
    }

    /// Another rule is in force; nil: the same one.
    func use(_ rule: HistoryRule? = nil, memory: Duration? = nil) {
        state.withLock { state in
            state.rule = rule ?? state.rule
            state.memory = memory ?? state.memory
        }
    }

    /// It ends with the step that is under way.
    func end() { state.withLock { $0.isEnding = true } }

    private var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Does what there is to do. Not while the clock jumps: one that is wrong for a moment must not cost the history.
    func run(at now: Timestamp, _ monotonic: MonotonicTime = .now()) throws(JournalError) {
        guard clock.withLock({ $0.isSteady(wall: now, monotonic: monotonic) }) else { return }
        let (rule, memory) = state.withLock { ($0.rule, $0.memory) }
        if try removeJobs(rule, HistoryLimits(rule, at: now)) { recover() }
        try journal.removeNotes(
            content: now.before(max(rule.longest, memory)), others: now.before(rule.longest))
        while !isEnding, try journal.giveBack() {}
        try advise()
    }

    /// Returns whether all went that were to go.
    private func removeJobs(_ rule: HistoryRule, _ limits: HistoryLimits) throws(JournalError) -> Bool {
        var last: ExpiredJob?
        while !isEnding {
            let step = try journal.expired(limits, after: last, limit: Self.batch)
            guard try remove(step, rule.archive) else { return false }
            last = step.last
            if step.count < Self.batch { break }
        }
        guard rule.jobs != nil || rule.bytes != nil else { return !isEnding }
        var count = rule.jobs == nil ? 0 : try journal.finishedCount()
        last = nil
        while !isEnding {
            let surplus = rule.surplus(jobs: count, bytes: try journal.room().used, batch: Self.batch)
            let step = surplus > 0 ? try journal.expired(nil, after: last, limit: surplus) : []
            if step.isEmpty { return true }
            guard try remove(step, rule.archive) else { return false }
            last = step.last
            count -= step.count
        }
        return false
    }

    /// False: they are kept, since they cannot be archived.
    private func remove(_ step: [ExpiredJob], _ folder: FilePath?) throws(JournalError) -> Bool {
        guard !step.isEmpty else { return true }
        guard let folder, let archive else {
            _ = try journal.remove(step.map(\.id), noting: nil)
            return true
        }
        var jobs: [JobRecord] = []
        for job in step {
            // A row that cannot be read stays where it can still be looked at.
            do throws(JournalError) {
                if let record = try journal.job(job.id) { jobs.append(record) }
            } catch  where error.kind == .corrupt {}
        }
        guard !jobs.isEmpty else { return true }
        let noted = try journal.archived()
        let note: ArchiveNote
        do throws(ArchiveProblem) {
            note = try archive.append(jobs, to: folder, behind: noted) { (begun) throws(JournalError) in
                try journal.note(archived: begun)
            }
        } catch {
            switch error {
            case .journal(let error): throw error
            case .archive(let message): fail(message)
            }
            return false
        }
        _ = try journal.remove(jobs.map(\.id), noting: note)
        return true
    }

    /// Told once until it can be written, or something else is wrong with it.
    private func fail(_ message: String) {
        let isNews = state.withLock { state in
            defer { state.trouble = message }
            return state.trouble != message
        }
        if isNews { observer(.archiving(trouble: message)) }
    }

    private func recover() {
        let hadTrouble = state.withLock { state in
            defer { state.trouble = nil }
            return state.trouble != nil
        }
        if hadTrouble { observer(.archiving(trouble: nil)) }
    }

    /// What is left to a person, once a run of the daemon.
    private func advise() throws(JournalError) {
        guard !state.withLock({ $0.hasAdvised }) else { return }
        let room = try journal.room()
        guard !room.isElastic, room.free > Self.worthAWord, room.free > room.used else { return }
        state.withLock { $0.hasAdvised = true }
        observer(
            .warning(
                pipeline: nil,
                message:
                    "the journal takes \(ByteSize(bytes: room.free)) that nothing is in any more; stop Dropmill "
                    + "and run 'dropmill journal compact' once, and from then on it gives such room back by itself"))
    }
}

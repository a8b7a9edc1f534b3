import Files
import Journal
import PipelineKit
import Synchronization
import SystemPackage

/// Takes from the journal the jobs that it is to keep no longer: those whose time is over, and the oldest where there
/// are too many; into an archive before, where there is one. Then the file gives back the room that nothing takes any
/// more. In small steps, between which others write. Its runs are on one queue, and may wait for the archive's disk.
final class HistoryKeeper: Sendable {
    private struct State {
        var rule: HistoryRule
        /// How long content is to be known that came before: the longest that was asked for in this run of the daemon,
        /// since a pipeline may be away for a while.
        var memory: Duration
        var isEnding = false
        /// Another rule is in force than the run under way goes by.
        var isOutdated = false
        /// Which folder the archive is asked for, and since when; nil where it is not, or where that was told.
        var asked: (folder: FilePath, since: MonotonicTime)?
        var clock: ClockDoubt
        /// What was told of the archive last; nil: nothing was told, or that it works.
        var trouble: String?
        var hasTold = false
        var hasAdvised = false
    }

    /// Jobs that one step removes: some 10 ms, for which other writes wait.
    static let batch = 500
    /// About as much JSON is archived at once.
    private static let most = 8 << 20
    /// What ended so shortly ago is not in the way of anything.
    private static let young = Duration.seconds(3600)
    /// Where so much is free in a file that cannot give it back, that is worth a word.
    private static let worthAWord: Int64 = 64 << 20

    private let journal: any HistoryJournal
    private let archive: (any HistoryArchive)?
    private let observer: @Sendable (EngineEvent) -> Void
    private let state: Mutex<State>

    /// `seen`: when an earlier run of the daemon was there last, by the same clock.
    init(
        _ journal: any HistoryJournal, _ rule: HistoryRule, memory: Duration, seen: Timestamp?,
        archive: (any HistoryArchive)?, observer: @escaping @Sendable (EngineEvent) -> Void
    ) {
        (self.journal, self.archive, self.observer) = (journal, archive, observer)
        state = Mutex(State(rule: rule, memory: memory, clock: ClockDoubt(seen: seen)))
    }

    /// Another rule is in force; nil: the same one. A run that goes by the last one ends with its step.
    func use(_ rule: HistoryRule? = nil, memory: Duration? = nil) {
        state.withLock { state in
            if let rule, rule != state.rule { (state.rule, state.isOutdated) = (rule, true) }
            state.memory = max(memory ?? .zero, state.memory)
        }
    }

    /// It ends with the step that is under way.
    func end() { state.withLock { $0.isEnding = true } }

    var isEnding: Bool { state.withLock { $0.isEnding } }

    private var mayGoOn: Bool { state.withLock { !$0.isEnding && !$0.isOutdated } && journal.mayForget() }

    /// Tells where the archive's disk has not answered for long, from another queue than that of the runs.
    func look(at now: MonotonicTime = .now()) {
        let silent = state.withLock { state -> FilePath? in
            guard let (folder, since) = state.asked, now - since >= Self.patience else { return nil }
            state.asked = nil
            return folder
        }
        guard let folder = silent else { return }
        noteArchive(
            "the history is kept, because its archive in '\(folder.text)' does not answer; check its disk, or name "
                + "another folder in 'history.archive' and start Dropmill again")
    }

    /// For so long a disk may be busy.
    private static let patience = Duration.seconds(60)

    /// Runs what may wait for the disk of an archive's folder.
    private func asking<Value>(
        for folder: FilePath, _ body: () throws(JournalError) -> Value
    ) throws(JournalError) -> Value {
        state.withLock { $0.asked = (folder, .now()) }
        defer { state.withLock { $0.asked = nil } }
        return try body()
    }

    /// Does what there is to do. What goes by its age stays while the clock is in doubt.
    func run(at now: Timestamp, _ monotonic: MonotonicTime = .now()) throws(JournalError) {
        let (rule, memory, isDoubtful) = state.withLock { state in
            state.isOutdated = false
            return (state.rule, state.memory, state.clock.isDoubtful(wall: now, monotonic: monotonic))
        }
        guard journal.mayForget() else { return }
        // Also where nothing is to go yet: who is told before it is can still do something.
        if let problem = try problem(with: rule.archive) {
            noteArchive(problem)
        } else {
            var removed = 0
            defer { if removed > 0 { observer(Self.ended(removed, rule.archive)) } }
            if try removeJobs(rule, at: isDoubtful ? nil : now, &removed) { noteArchive(nil) }
        }
        while mayGoOn, !isDoubtful {
            let count = try journal.removeNotes(
                content: now.before(max(rule.longest, memory)), others: now.before(rule.longest), limit: Self.batch)
            if count == 0 { break }
        }
        while mayGoOn, try journal.giveBack() {}
        if !isEnding { try advise(rule) }
    }

    private func problem(with folder: FilePath?) throws(JournalError) -> String? {
        guard let folder, let archive else { return nil }
        return try asking(for: folder) { () throws(JournalError) in archive.problem(with: folder) }
    }

    /// Returns false if some jobs had to stay. `now`: nil while the clock is in doubt.
    private func removeJobs(
        _ rule: HistoryRule, at now: Timestamp?, _ removed: inout Int
    ) throws(JournalError) -> Bool {
        if let most = rule.jobs {
            let hasEnded = try removeOldest(rule.archive, nil, &removed) { () throws(JournalError) in
                max(0, try journal.finishedCount() - most)
            }
            guard hasEnded else { return false }
        }
        guard let now else { return true }
        var last: ExpiredJob?
        while mayGoOn {
            let step = try journal.expired(HistoryLimits(rule, at: now), after: last, limit: Self.batch)
            guard let count = try remove(step, rule.archive) else { return false }
            removed += count
            last = step.last
            if step.count < Self.batch { break }
        }
        guard let most = rule.bytes else { return mayGoOn }
        let old = HistoryLimits(before: now.before(Self.young))
        return try removeOldest(rule.archive, old, &removed) { () throws(JournalError) in
            try journal.room().used > most ? Self.batch : 0
        }
    }

    /// Removes the oldest as long as there are too many. `limits`: only those that ended before.
    private func removeOldest(
        _ folder: FilePath?, _ limits: HistoryLimits?, _ removed: inout Int,
        surplus: () throws(JournalError) -> Int
    ) throws(JournalError) -> Bool {
        var (last, rest): (ExpiredJob?, Int) = (nil, try surplus())
        while mayGoOn, rest > 0 {
            let step = try journal.expired(limits, after: last, limit: min(rest, Self.batch))
            if step.isEmpty { return true }
            guard let count = try remove(step, folder) else { return false }
            removed += count
            last = step.last
            // To count them takes longer than to remove them.
            rest = rest > step.count ? rest - count : try surplus()
        }
        return mayGoOn
    }

    /// How many there were. nil: they are kept, since they cannot be archived.
    private func remove(_ step: [ExpiredJob], _ folder: FilePath?) throws(JournalError) -> Int? {
        guard !step.isEmpty else { return 0 }
        guard let folder, let archive else { return try journal.remove(step.map(\.id), noting: nil) }
        var (count, place) = (0, step.startIndex)
        while place < step.endIndex {
            var (jobs, size): ([JobRecord], Int) = ([], 0)
            while place < step.endIndex, size < Self.most {
                // A row that cannot be read stays where it can still be looked at.
                do throws(JournalError) {
                    if let record = try journal.job(step[place].id) {
                        jobs.append(record)
                        size = size.addingSaturated(record.roughSize)
                    }
                } catch  where error.kind == .corrupt {}
                place += 1
            }
            guard mayGoOn else { return nil }
            guard !jobs.isEmpty else { continue }
            let note = try asking(for: folder) { () throws(JournalError) in try archived(jobs, archive, folder) }
            guard let note else { return nil }
            count += try journal.remove(jobs.map(\.id), noting: note)
        }
        return count
    }

    private func archived(
        _ jobs: [JobRecord], _ archive: any HistoryArchive, _ folder: FilePath
    ) throws(JournalError) -> ArchiveNote? {
        let noted = try journal.archived()
        do throws(ArchiveProblem) {
            return try archive.append(jobs, to: folder, behind: noted) { (begun) throws(JournalError) in
                try journal.note(archived: begun)
            }
        } catch {
            switch error {
            case .journal(let error): throw error
            case .archive(let message):
                noteArchive(message)
                return nil
            }
        }
    }

    /// Trouble is told once until it is over, or is another; that it is over also at first: an earlier run may have
    /// told of some.
    private func noteArchive(_ trouble: String?) {
        let isNews = state.withLock { state in
            let isNews =
                trouble == nil
                ? state.trouble != nil || !state.hasTold && state.rule.archive != nil : state.trouble != trouble
            (state.trouble, state.hasTold) = (trouble, state.hasTold || isNews)
            return isNews
        }
        if isNews { observer(.archiving(trouble: trouble)) }
    }

    private static func ended(_ jobs: Int, _ archive: FilePath?) -> EngineEvent {
        let subject = jobs == 1 ? "1 job has" : "\(jobs) jobs have"
        let place = archive.map { "; the archive in '\($0.text)' has them" } ?? ""
        return .historyEnded(jobs: jobs, message: "\(subject) left the history\(place)")
    }

    /// What is left to a person, once a run of the daemon.
    private func advise(_ rule: HistoryRule) throws(JournalError) {
        guard !state.withLock({ $0.hasAdvised }) else { return }
        let room = try journal.room()
        let advice: String
        if !room.isElastic, room.free > Self.worthAWord, room.free > room.used {
            advice =
                "the journal takes \(ByteSize(bytes: room.free)) that nothing is in any more; stop Dropmill and run "
                + "'dropmill journal compact' once, and from then on it gives such room back by itself"
        } else if let most = rule.bytes, room.used > most {
            advice =
                "the journal takes \(ByteSize(bytes: room.used)), more than 'history.bytes', and nothing in it is to "
                + "go but jobs of the last hour; write more: what is known of content that came is in it, too"
        } else {
            return
        }
        state.withLock { $0.hasAdvised = true }
        observer(.warning(pipeline: nil, message: advice))
    }
}

extension JobRecord {
    /// About how many bytes it takes as JSON.
    fileprivate var roughSize: Int {
        let paths = outputs.reduce(0) { $0 + $1.bytes.count + 4 }
        return 1000 + paths + history.reduce(0) { $0 + 150 + ($1.note?.utf8.count ?? 0) }
            + (failure.map { $0.detail.utf8.count + $0.summary.utf8.count } ?? 0)
    }
}

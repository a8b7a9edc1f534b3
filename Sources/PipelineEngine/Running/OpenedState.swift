@preconcurrency import Dispatch
import Files
import Glibc
import Journal
import PipelineKit
import Synchronization
import SystemPackage

/// The state folder, locked, with its journal.
final class OpenedState: Sendable {
    private let store: any JournalStore
    let journal: any EngineJournal
    /// The same, where other nodes write to it, too.
    var shared: (any SharedJournal)? { journal as? any SharedJournal }
    let writer: JournalWriter
    let lastRun: RunRecord?
    /// The machine's present boot.
    let boot: String
    /// This run as it would be told if it had ended by now in order.
    var presentRun: RunRecord {
        RunRecord(boot: boot, process: Int(getpid()), startedAt: .now(), endedAt: .now())
    }
    private let folder: FilePath
    /// Folders above it that are accepted as they are.
    private let trusted: [FilePath]
    /// The group that may pass.
    private let group: Mutex<gid_t?>
    var members: gid_t? { group.withLock { $0 } }
    private let patience = Mutex(Patience())
    private let lock: Mutex<FolderLock>
    /// The last reported problem with the journal's place.
    private let reported = Mutex<JournalError?>(nil)
    private let keeping = Mutex<(any DispatchSourceTimer)?>(nil)
    /// Which folder that is.
    private let identity: Mutex<FileIdentity?>
    private let housekeeping = DispatchQueue(label: "dropmill.housekeeping")
    private let history = DispatchQueue(label: "dropmill.history")
    private let tidying = Mutex<Tidying?>(nil)

    private struct Tidying {
        let keeper: HistoryKeeper
        let timer: any DispatchSourceTimer
        let body: @Sendable () -> Void
    }

    init(
        in folder: FilePath, trusting trusted: [FilePath], members: gid_t? = nil, lock: FolderLock,
        store: any JournalStore, journal: any EngineJournal, lastRun: RunRecord?, boot: String,
        observer: @escaping @Sendable (EngineEvent) -> Void,
        dropped: @escaping @Sendable (Set<JobID>) -> Void = { _ in }
    ) {
        self.folder = folder
        self.trusted = trusted
        group = Mutex(members)
        self.lock = Mutex(lock)
        identity = Mutex(Self.identity(of: folder))
        (self.store, self.journal) = (store, journal)
        self.lastRun = lastRun
        self.boot = boot
        let report: @Sendable (JournalError?) -> Void = { error in
            if let error { Self.report(error, store, observer) }
        }
        writer = JournalWriter(journal: journal, report: report, dropped: dropped)
    }

    /// Reports what is wrong with the journal of a running daemon; damage is noted for the next start.
    private static func report(
        _ error: JournalError, _ store: any JournalStore, _ observer: @Sendable (EngineEvent) -> Void
    ) {
        observer(.trouble(message: "\(error.message) \(error.remedy)"))
        if error.kind == .corrupt { noteDamage(to: store, observer) }
    }

    /// Makes the next start move the journal aside.
    static func noteDamage(to store: any JournalStore, _ observer: @Sendable (EngineEvent) -> Void) {
        do throws(IOError) {
            try store.markDamaged()
        } catch {
            let remedy = "move the journal away before starting Dropmill again"
            observer(.trouble(message: "\(error); \(remedy)"))
        }
    }

    /// Lets the members of a group pass, and nobody else but its user.
    func admit(_ members: gid_t?) throws(FolderError) {
        do throws(FolderError) {
            try PrivateState.close(folder, but: members)
        } catch {
            // What was given to them before it failed is taken back; the failure is the same one.
            do throws(FolderError) { try PrivateState.close(folder, but: self.members) } catch {}
            throw error
        }
        group.withLock { $0 = members }
    }

    /// Releases everything. Without `end` before it, the next start takes this run for one that was killed.
    func close() {
        let tidying = tidying.withLock { $0 }
        tidying?.timer.cancel()
        tidying?.keeper.end()
        let rest = DispatchGroup()
        history.async(group: rest) {}
        _ = rest.wait(timeout: .now() + Self.patienceWithHistory)
        keeping.withLock { $0 }?.cancel()
        // Waits for housekeeping before closing.
        housekeeping.sync {}
        journal.close()
        lock.withLock { $0 }.release()
    }

    /// Writes what is pending and records that the run ended cleanly.
    func end(_ observer: @Sendable (EngineEvent) -> Void) {
        do throws(JournalError) {
            try writer.close()
            try journal.endRun()
        } catch {
            Self.report(error, store, observer)
        }
    }

    /// Has the history kept, soon and then every hour, as long as the journal is open.
    func keepTidy(
        _ keeper: HistoryKeeper, now: @escaping @Sendable () -> Timestamp,
        _ observer: @escaping @Sendable (EngineEvent) -> Void
    ) {
        let tidy = { @Sendable [store] in
            do throws(JournalError) {
                try keeper.run(at: now())
            } catch {
                // The journal may have been closed meanwhile.
                if !keeper.isEnding { Self.report(error, store, observer) }
            }
        }
        let timer = history.every(.seconds(3600), from: .seconds(10), leeway: .seconds(60), tidy)
        tidying.withLock { $0 = Tidying(keeper: keeper, timer: timer, body: tidy) }
    }

    /// Has it kept once now, as far as it gets in a few seconds.
    func tidyOnce() {
        guard let tidying = tidying.withLock({ $0 }) else { return }
        let rest = DispatchGroup()
        history.async(group: rest, execute: tidying.body)
        _ = rest.wait(timeout: .now() + Self.patienceOnce)
    }

    private static let patienceOnce = DispatchTimeInterval.seconds(10)

    /// Has it kept by another rule, soon. `memory`: how long content is to be known that came before.
    func keepHistory(_ rule: HistoryRule? = nil, memory: Duration? = nil) {
        guard let tidying = tidying.withLock({ $0 }) else { return }
        tidying.keeper.use(rule, memory: memory)
        if rule != nil { history.async(execute: tidying.body) }
    }

    /// How long closing waits for a step that is under way: the archive's disk may not answer. A step that goes on
    /// after that fails at the closed journal, and the next start repeats it.
    private static let patienceWithHistory = DispatchTimeInterval.seconds(2)

    /// How often the journal's place is looked at.
    private static let glance = 20

    /// How many looks are left out after one in vain, up to an hour: each makes a copy of the whole journal.
    struct Patience {
        private var rest = 0
        private var next = 1

        /// Whether it is time for a look.
        mutating func isOver() -> Bool {
            guard rest > 0 else { return true }
            rest -= 1
            return false
        }

        mutating func failed() {
            rest = next
            next = min(next * 2, 3600 / glance)
        }
    }

    /// Keeps the journal where others look for it, and reports what was wrong. `lost` is called if a
    /// new one does not know the unfinished jobs.
    func keepInPlace(
        _ run: RunRecord, _ observer: @escaping @Sendable (EngineEvent) -> Void, lost: @escaping @Sendable () -> Void
    ) {
        let timer = housekeeping.every(.seconds(Self.glance), leeway: .seconds(1)) { @Sendable [weak self] in
            self?.checkPlace(run, observer, lost)
        }
        keeping.withLock { $0 = timer }
    }

    /// On the housekeeping queue.
    func checkPlace(
        _ run: RunRecord, _ observer: @Sendable (EngineEvent) -> Void, _ lost: () -> Void
    ) {
        tidying.withLock { $0 }?.keeper.look()
        guard patience.withLock({ $0.isOver() }) else { return }
        do throws(JournalError) {
            try keepFolder()
            let mending = try journal.mend(run)
            if mending != nil { try closeAll() }
            patience.withLock { $0 = Patience() }
            guard let mending else { return reported.withLock { $0 = nil } }
            let aside = mending.aside.map { " The file in its place is now '\($0.text)'." } ?? ""
            let history =
                mending.keepsHistory
                ? "it was restored with its full history."
                : "a new one was created with the unfinished jobs; the history of finished jobs is lost."
            observer(
                .trouble(
                    message: "the journal was removed or replaced while Dropmill was running; \(history)\(aside) Keep "
                        + "other programs out of the state folder '\(folder.text)'"))
            if !mending.keepsHistory { lost() }
        } catch {
            patience.withLock { $0.failed() }
            let isNews = reported.withLock { reported in
                defer { reported = error }
                return reported != error
            }
            if isNews {
                observer(
                    .trouble(
                        message: "the journal was removed or replaced while Dropmill is running; restoring it failed: "
                            + error.message))
            }
        }
    }

    /// Closes what was put in it since.
    private func closeAll() throws(JournalError) {
        do throws(FolderError) {
            try PrivateState.close(folder, but: members)
        } catch {
            throw JournalError(.environment, error.message)
        }
    }

    /// That of a folder, behind a link or not.
    private static func identity(of folder: FilePath) -> FileIdentity? { FileIdentity.of(folder.absolute.pushing(".")) }

    /// The folder that others look into is the one that this process holds.
    private func keepFolder() throws(JournalError) {
        let held = identity.withLock { $0 }
        let found = Self.identity(of: folder)
        guard found == nil || found != held else { return }
        do throws(FolderError) {
            // The replacement may be open to others; its contents are closed to them.
            _ = try PrivateState.prepare(folder, trusting: trusted, members: members)
            let lock = try FolderLock(folder, describedAs: "the state folder")
            let old = self.lock.withLock { held in
                defer { held = lock }
                return held
            }
            old.release()
        } catch {
            throw JournalError(.environment, error.message)
        }
        identity.withLock { $0 = Self.identity(of: folder) }
    }
}

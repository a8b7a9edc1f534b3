@preconcurrency import Dispatch
import PipelineKit
import Synchronization
import SystemPackage

/// The state folder, locked, with its journal.
final class OpenedState: Sendable {
    let lock: FolderLock
    let journal: any Journal
    let writer: JournalWriter
    /// The run before this one, if there was any.
    let lastRun: RunRecord?
    /// The machine's present boot.
    let boot: String
    private let folder: FilePath
    private let housekeeping = DispatchQueue(label: "dropmill.housekeeping")
    private let tidying = Mutex<(any DispatchSourceTimer)?>(nil)

    init(
        in folder: FilePath, lock: FolderLock, journal: any Journal, lastRun: RunRecord?, boot: String,
        observer: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.folder = folder
        self.lock = lock
        self.journal = journal
        self.lastRun = lastRun
        self.boot = boot
        let report: @Sendable (JournalError?) -> Void = { error in
            if let error { Self.tell(error, in: folder, observer) }
        }
        writer = JournalWriter(journal: journal, report: report)
    }

    /// Says what is wrong with the journal of a daemon that runs; damage is noted for the next start.
    private static func tell(
        _ error: JournalError, in folder: FilePath, _ observer: @Sendable (EngineEvent) -> Void
    ) {
        observer(.warning(pipeline: nil, message: "\(error.message) \(error.remedy)"))
        if error.kind == .corrupt { noteDamage(in: folder, observer) }
    }

    /// Has the next start set the journal aside.
    static func noteDamage(in folder: FilePath, _ observer: @Sendable (EngineEvent) -> Void) {
        do throws(IOError) {
            try SQLiteJournal.markDamaged(in: folder)
        } catch {
            let remedy = "move the journal away before you start Dropmill again"
            observer(.warning(pipeline: nil, message: "\(error); \(remedy)"))
        }
    }

    /// Lets go of everything. Without `end` before it, the next start takes this run for one that was killed.
    func close() {
        tidying.withLock { $0 }?.cancel()
        // Nothing is closed under what is tidying just now.
        housekeeping.sync {}
        journal.close()
        lock.release()
    }

    /// Puts down what is still to be written and says that the run ended in order.
    func end(_ observer: @Sendable (EngineEvent) -> Void) {
        do throws(JournalError) {
            try writer.close()
            try journal.endRun()
        } catch {
            Self.tell(error, in: folder, observer)
        }
    }

    /// Removes what is older than is to be kept, soon and then every hour, as long as the journal is open. Not while
    /// the clock jumps: one that is wrong for a moment must not cost the history.
    func keepTidy(_ kept: Duration, _ observer: @escaping @Sendable (EngineEvent) -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: housekeeping)
        timer.schedule(deadline: .now() + .seconds(10), repeating: .seconds(3600), leeway: .seconds(60))
        let (journal, folder) = (journal, folder)
        let clock = Mutex(ClockWatch())
        timer.setEventHandler { @Sendable in
            guard clock.withLock({ $0.isSteady(wall: .now(), monotonic: .now()) }) else { return }
            do throws(JournalError) {
                let limit = Timestamp(nanoseconds: Timestamp.now().nanoseconds - kept.nanoseconds)
                _ = try journal.prune(finishedBefore: limit)
            } catch {
                Self.tell(error, in: folder, observer)
            }
        }
        timer.activate()
        tidying.withLock { $0 = timer }
    }
}

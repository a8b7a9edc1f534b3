@preconcurrency import Dispatch
import Glibc
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
    private let housekeeping = DispatchQueue(label: "dropmill.housekeeping")
    private let tidying = Mutex<(any DispatchSourceTimer)?>(nil)

    init(
        lock: FolderLock, journal: any Journal, lastRun: RunRecord?, boot: String,
        observer: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.lock = lock
        self.journal = journal
        self.lastRun = lastRun
        self.boot = boot
        let report: @Sendable (JournalError?) -> Void = { error in
            if let error { observer(.warning(pipeline: nil, message: error.message)) }
        }
        writer = JournalWriter(journal: journal, report: report)
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
            observer(.warning(pipeline: nil, message: error.message))
        }
    }

    /// Removes what is older than is to be kept, soon and then every day, as long as the journal is open.
    func keepTidy(_ kept: Duration, _ observer: @escaping @Sendable (EngineEvent) -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: housekeeping)
        timer.schedule(deadline: .now() + .seconds(10), repeating: .seconds(86_400), leeway: .seconds(60))
        let journal = journal
        timer.setEventHandler { @Sendable in
            do throws(JournalError) {
                let limit = Timestamp(nanoseconds: Timestamp.now().nanoseconds - kept.nanoseconds)
                _ = try journal.prune(finishedBefore: limit)
            } catch {
                observer(.warning(pipeline: nil, message: error.message))
            }
        }
        timer.activate()
        tidying.withLock { $0 = timer }
    }
}

extension Engine {
    /// A pipeline with its folders open and what earlier runs left in them.
    struct Prepared {
        let spool: Spool
        let findings: Recovery.Findings
    }

    /// Locks the state folder and opens the journal. One that is damaged is set aside, said loudly, and begun anew: the
    /// work folders know every job.
    func openState() throws(EngineError) -> OpenedState {
        do throws(IOError) {
            try Folder.make(configuration.state, mode: 0o700)
        } catch {
            throw EngineError(kind: .configuration, message: "\(error); name another state folder with --state")
        }
        let lock = try FolderLock(configuration.state, describedAs: "the state folder")
        do throws(JournalError) {
            return try open(lock)
        } catch {
            lock.release()
            throw EngineError(kind: .configuration, message: error.message)
        }
    }

    private func open(_ lock: FolderLock) throws(JournalError) -> OpenedState {
        let boot = Self.boot()
        let journal = try openJournal()
        let run = RunRecord(boot: boot, process: Int(getpid()), startedAt: .now())
        let state: OpenedState
        do throws(JournalError) {
            let lastRun = try journal.beginRun(run)
            state = OpenedState(lock: lock, journal: journal, lastRun: lastRun, boot: boot, observer: observer)
        } catch {
            journal.close()
            throw error
        }
        state.keepTidy(configuration.keepHistory, observer)
        return state
    }

    private func openJournal() throws(JournalError) -> any Journal {
        let isDurable = pipelines.contains { $0.durability == .full }
        do throws(JournalError) {
            return try SQLiteJournal.open(writing: configuration.state, durable: isDurable)
        } catch {
            guard error.kind == .corrupt else { throw error }
            let aside = try SQLiteJournal.setAside(in: configuration.state, at: .now())
            observer(
                .warning(
                    pipeline: nil,
                    message:
                        "\(error.message); it was set aside as '\(aside.text)' and a new one is begun. Every job is "
                        + "kept, since the work folders know them; what is over is known to the old one only"))
            return try SQLiteJournal.open(writing: configuration.state, durable: isDurable)
        }
    }

    /// Opens the pipelines' folders and brings them together with the journal; what changed by that is durable when
    /// this returns.
    func prepare(with state: OpenedState) throws(EngineError) -> [Prepared] {
        var records: [String: [JobRecord]] = [:]
        do throws(JournalError) {
            records = Dictionary(grouping: try state.journal.unfinished(), by: \.pipeline)
        } catch {
            throw EngineError(kind: .configuration, message: error.message)
        }
        var prepared: [Prepared] = []
        var changed: [JobRecord] = []
        for pipeline in pipelines {
            let own = try prepare(pipeline, records.removeValue(forKey: pipeline.name) ?? [], state)
            changed += own.findings.changed
            prepared.append(own)
        }
        for (name, left) in records.sorted(by: { $0.key < $1.key }) {
            observer(
                .warning(
                    pipeline: nil,
                    message: "\(left.count) unfinished jobs belong to the pipeline '\(name)', which is not among those "
                        + "given; they are left alone until it runs again"))
        }
        do throws(JournalError) {
            if !changed.isEmpty { try state.journal.write(changed, pipelines: []) }
        } catch {
            throw EngineError(kind: .configuration, message: error.message)
        }
        return prepared
    }

    private func prepare(
        _ pipeline: Pipeline, _ records: [JobRecord], _ state: OpenedState
    ) throws(EngineError) -> Prepared {
        do throws(IOError) {
            try Folder.make(pipeline.inbox)
            if case .folder(let processed) = pipeline.processed { try Folder.make(processed) }
            try Folder.make(pipeline.failed)
        } catch {
            throw EngineError(
                kind: .configuration,
                message:
                    "\(pipeline.source.text): \(error); make the folder, or give the user that Dropmill runs as "
                    + "the right "
                    + "to make it")
        }
        let work = try WorkFolder(for: pipeline)
        let recovery = Recovery(of: pipeline, in: work, lastRun: state.lastRun, boot: state.boot)
        do {
            // A folder may have outlived its job: its removal failed, or a kill came before it.
            let known = Set(records.map(\.id))
            let over = try recovery.folders().filter { try !known.contains($0) && state.journal.isOver($0) }
            let findings = try recovery.reconcile(records, over: Set(over))
            for warning in findings.warnings { observer(.warning(pipeline: pipeline.name, message: warning)) }
            return Prepared(spool: Spool(pipeline: pipeline, work: work), findings: findings)
        } catch {
            work.release()
            let fact = (error as? JournalError)?.message ?? "\(error)"
            throw EngineError(
                kind: .configuration,
                message:
                    "\(pipeline.source.text): \(fact); look after the work folder '\(work.path.text)' and the "
                    + "state folder"
            )
        }
    }

    /// The machine's boot (random/boot_id of proc(5)); one that cannot be told counts as another one each time.
    private static func boot() -> String {
        do throws(IOError) {
            let file = try OpenFile.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
            var buffer = [UInt8](repeating: 0, count: 64)
            var failure: IOError?
            let count = buffer.withUnsafeMutableBytes { bytes in
                do throws(IOError) {
                    return try file.read(into: bytes)
                } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            return String(decoding: buffer[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
        } catch {
            return "unknown since \(Timestamp.now().iso8601)"
        }
    }
}

extension Journal {
    /// Whether the job is over, and its drop not merely out of sight.
    func isOver(_ id: JobID) throws(JournalError) -> Bool {
        guard let state = try job(id)?.state else { return false }
        return state.isFinal && state != .vanished
    }
}

import Glibc
import PipelineKit
import SystemPackage

extension Engine {
    /// A pipeline with its folders open and what earlier runs left in them.
    struct Prepared {
        let spool: Spool
        let findings: Recovery.Findings
    }

    /// The state, and what the journal says of every job that is not over.
    typealias Opening = (state: OpenedState, unfinished: [JobRecord])

    /// Locks the state folder, opens the journal and begins a run. A journal that is damaged is set aside, said loudly,
    /// and begun anew: the work folders know every job.
    func openState() throws(EngineError) -> Opening {
        let warning = try PrivateState.prepare(configuration.state, trusting: pipelines.flatMap(\.trust))
        if let warning { observer(.warning(pipeline: nil, message: warning)) }
        let lock = try FolderLock(configuration.state, describedAs: "the state folder")
        do throws(JournalError) {
            let opening = try openOrReplace(lock)
            opening.state.keepTidy(configuration.keepHistory, observer)
            return opening
        } catch {
            lock.release()
            throw notStarted(error)
        }
    }

    private func openOrReplace(_ lock: FolderLock) throws(JournalError) -> Opening {
        do throws(JournalError) {
            return try open(lock)
        } catch {
            guard error.kind == .corrupt else { throw error }
            let aside = try SQLiteJournal.setAside(in: configuration.state, at: .now())
            observer(
                .warning(
                    pipeline: nil,
                    message:
                        "\(error.message) It was set aside as '\(aside.text)' and a new one is begun. Every job is "
                        + "kept, since the work folders know them; what is over is known to the old one only"))
            return try open(lock)
        }
    }

    /// Reads all that the start needs, so that damage shows here.
    private func open(_ lock: FolderLock) throws(JournalError) -> Opening {
        let boot = Self.boot()
        let isDurable = pipelines.contains { $0.durability == .full }
        let journal = try SQLiteJournal.open(writing: configuration.state, durable: isDurable)
        do throws(JournalError) {
            let lastRun = try journal.beginRun(RunRecord(boot: boot, process: Int(getpid()), startedAt: .now()))
            let unfinished = try journal.unfinished()
            let state = OpenedState(
                in: configuration.state, lock: lock, journal: journal, lastRun: lastRun, boot: boot, observer: observer)
            return (state, unfinished)
        } catch {
            journal.close()
            throw error
        }
    }

    /// What there is to say where the journal prevents the start: nothing goes on by itself then.
    private func notStarted(_ error: JournalError) -> EngineError {
        let remedy: String
        switch error.kind {
        case .corrupt:
            remedy = " Start Dropmill again: it is set aside then, and every job is kept."
            OpenedState.noteDamage(in: configuration.state, observer)
        case .environment: remedy = " Dropmill has not started; start it again after that."
        case .newer, .missing: remedy = ""
        }
        return EngineError(kind: .configuration, message: error.message + remedy)
    }

    /// Opens the pipelines' folders and brings them together with the journal's records; what changed by that is
    /// durable when this returns.
    func prepare(with state: OpenedState, _ unfinished: [JobRecord]) throws(EngineError) -> [Prepared] {
        var records = Dictionary(grouping: unfinished, by: \.pipeline)
        var prepared: [Prepared] = []
        var changed: [JobRecord] = []
        let reserved = ReservedFolders(of: pipelines, state: configuration.state)
        for pipeline in pipelines {
            let own = try prepare(pipeline, records.removeValue(forKey: pipeline.name) ?? [], state, reserved)
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
            throw notStarted(error)
        }
        return prepared
    }

    private func prepare(
        _ pipeline: Pipeline, _ records: [JobRecord], _ state: OpenedState, _ reserved: ReservedFolders
    ) throws(EngineError) -> Prepared {
        do throws(IOError) {
            try Folder.make(pipeline.inbox)
        } catch {
            throw EngineError(
                kind: .configuration,
                message:
                    "\(pipeline.source.text): \(error); make the folder, or give the user that Dropmill runs as "
                    + "the right to make it")
        }
        let own = OwnFolders(of: pipeline)
        try own.prepare()
        let work = try WorkFolder(for: pipeline)
        let recovery = Recovery(of: pipeline, in: work, lastRun: state.lastRun, boot: state.boot)
        do {
            // The folders above it may have been missing before.
            try own.refuseWork()
            let known = try Self.complete(records, of: pipeline, with: recovery.folders(), state.journal)
            let findings = try recovery.reconcile(known.records, over: known.over)
            for warning in findings.warnings { observer(.warning(pipeline: pipeline.name, message: warning)) }
            return Prepared(spool: Spool(pipeline: pipeline, work: work, reserved: reserved), findings: findings)
        } catch {
            work.release()
            if let error = error as? JournalError { throw notStarted(error) }
            if let error = error as? EngineError { throw error }
            throw EngineError(
                kind: .configuration,
                message: "\(pipeline.source.text): \(error); look after the work folder '\(work.path.text)'")
        }
    }

    /// A folder may have outlived its job: its removal failed, or a kill came before it. Or it was away, and its job
    /// was given up as vanished.
    private static func complete(
        _ unfinished: [JobRecord], of pipeline: Pipeline, with folders: [JobID], _ journal: any Journal
    ) throws(JournalError) -> (records: [JobRecord], over: [JobID: JobRecord]) {
        var records = unfinished
        var over: [JobID: JobRecord] = [:]
        let known = Set(unfinished.map(\.id))
        for id in folders where !known.contains(id) {
            guard let record = try journal.job(id) else { continue }
            switch record.state {
            case .vanished where record.pipeline == pipeline.name: records.append(record.foundAgain)
            case .processed, .failed: over[id] = record
            default: break
            }
        }
        return (records, over)
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

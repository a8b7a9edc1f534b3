import CLinux
package import Files
package import Journal
package import PipelineKit
import SystemPackage

/// Reconciles the work folder and the journal at a start. The folder says that a job exists; the journal
/// says how far it is.
package struct Recovery: Sendable {
    /// Hidden entries of a job's folder that are not of its stages' making.
    static let kept: Set<String> = [".marker", ".condemned", Origin.name, Spool.senderNote.string]

    /// A job that resumes.
    package struct Resumed: Sendable {
        package let job: Job
        /// Its record, with this recovery counted.
        package let record: JobRecord
        /// How far it is.
        package let state: JobState

        /// Whether it may crash the daemon: it runs alone, so that no other job is blamed.
        package var isQuarantined: Bool
        /// What the drop looks like, where it stays its sender's.
        package var seal: Seal?
    }

    /// What the journal says of folders, by their names, that no unfinished job has.
    package struct Folders: Sendable {
        /// Their jobs were given up.
        package var givenUp: [JobID: JobRecord] = [:]
        /// The job that they are named after is over, and they passed to others.
        package var used: Set<JobID> = []

        package init() {}
    }

    package struct Findings: Sendable {
        /// Jobs that the journal knows, oldest first.
        package var resumed: [Resumed] = []
        /// Jobs that it does not know, oldest first: their drops may not even be complete.
        package var adopted: [Job] = []
        /// Jobs whose file system may not be mounted: they are left alone.
        package var stranded: [JobID] = []
        /// How many jobs are left as they are, since the daemon stopped too often while they were settled.
        package var parked = 0
        /// Records that changed and have to be durable before anything runs again.
        package var changed: [JobRecord] = []
        /// Warnings, as sentences.
        package var warnings: [String] = []
    }

    private let pipeline: Pipeline
    private let bounds: IntentBounds
    private let work: WorkFolder
    private let isFirstRun: Bool
    /// Whether folders passed from job to job in the last run; before that, one whose job is over was just not removed.
    private let hadSlots: Bool
    /// Whether the last run was killed or crashed.
    private let wasKilled: Bool
    /// Whether the machine was rebooted since, or the disk remounted after a kill: what was not synced may be lost.
    private let wasRebooted: Bool
    /// Whether what is missing from the work folder may be on an unmounted file system.
    private let mayBeAway: Bool
    private let now: Timestamp
    private let ids: JobIDGenerator

    /// A recovery of one pipeline. `lastRun`: the one before this, nil for none; `boot`: the machine's present boot;
    /// `isRemounted`: whether the work folder's file system was remounted since; `mayBeAway`: whether what is not in
    /// the work folder may be away with its file system.
    package init(
        of pipeline: Pipeline, in work: WorkFolder, lastRun: RunRecord?, boot: String, isRemounted: Bool = false,
        mayBeAway: Bool = false,
        ids: JobIDGenerator = JobIDGenerator(), at time: Timestamp = .now()
    ) {
        self.ids = ids
        self.mayBeAway = mayBeAway
        self.pipeline = pipeline
        bounds = IntentBounds(of: pipeline)
        self.work = work
        isFirstRun = lastRun == nil
        hadSlots = lastRun?.hasSlots ?? true
        wasKilled = lastRun.map { $0.endedAt == nil } ?? true
        wasRebooted = lastRun.map { $0.boot != boot || $0.endedAt == nil && isRemounted } ?? true
        now = time
    }

    /// Compares the job folders with the journal's unfinished records of this pipeline. `names`: only these folders
    /// count, and what else is in the work folder stays as it is; nil: all.
    package func reconcile(
        _ records: [JobRecord], _ folders: Folders = Folders(), in names: [JobID]? = nil
    ) throws(IOError) -> Findings {
        var findings = Findings()
        var unmatched = Dictionary(records.map { ($0.folder, $0) }, uniquingKeysWith: { first, _ in first })
        for name in try jobFolders(names) {
            let folder = work.active.appending(name)
            guard let slot = JobID(name.text), Folder.kind(of: folder) == .folder else {
                findings.warnings.append("'\(folder.text)' is not a Dropmill job; it is left alone")
                continue
            }
            let record = unmatched.removeValue(forKey: slot)
            do throws(IOError) {
                if let givenUp = folders.givenUp[slot] {
                    try keep(folder, of: givenUp, &findings)
                } else {
                    try match(folder, slot, record, isUsed: folders.used.contains(slot), &findings)
                }
            } catch {
                // One inconsistent folder must not block the others.
                findings.parked += folders.givenUp[slot] == nil ? 1 : 0
                findings.warnings.append(
                    "'\(folder.text)' cannot be recovered and is left alone: \(error). Start Dropmill again once "
                        + "that is fixed")
            }
        }
        for record in unmatched.values.sorted(by: { $0.id < $1.id }) { withoutFolder(record, &findings) }
        if names == nil { work.emptyTrash(but: Set(records.map(\.id))) }
        if isFirstRun, !findings.adopted.isEmpty {
            let count = findings.adopted.count
            let found = count == 1 ? "1 job was" : "\(count) jobs were"
            findings.warnings.append(
                "the journal is new or was lost, but \(found) found in the work folder '\(work.path.text)'. They "
                    + "start over, and their history is lost. Check that --state-dir is the folder of earlier "
                    + "runs.")
        }
        return findings
    }

    /// Those of these names that are there; nil: all that is in the work folder.
    private func jobFolders(_ ids: [JobID]?) throws(IOError) -> [FileName] {
        guard let ids else { return try Folder.names(in: work.active).sorted() }
        return ids.compactMap { FileName($0.text) }.filter { Folder.kind(of: work.active.appending($0)) != nil }
    }

    /// The folder of a job that was given up is back: its drop may have been sent again.
    private func keep(_ folder: FilePath, of record: JobRecord, _ findings: inout Findings) throws(IOError) {
        guard try !work.removeUnused(folder) else { return }
        let kept = try work.setAside(folder, as: record.id)
        findings.warnings.append(
            "the folder of job \(record.id) ('\(record.drop.name)') is back, though the job was given up: it is kept "
                + "in '\(kept.text)'. Send the drop again if needed, then remove it")
    }

    /// `isUsed`: whether it had a job that is over.
    private func match(
        _ folder: FilePath, _ slot: JobID, _ record: JobRecord?, isUsed: Bool, _ findings: inout Findings
    ) throws(IOError) {
        if let record, Self.isRollingForward(record) { return rollForward(record, folder, &findings) }
        var entries = try Folder.names(in: folder)
        let isThere = try isThere(record, in: folder)
        if !isThere, !entries.contains(where: { !$0.isHidden }) {
            // Its deletion was all that was left to be done.
            if let record, record.isDeleting, pipeline.processed == .delete {
                return rollForward(record, folder, &findings)
            }
            // The crash came before its claim's rename, or after its settlement.
            var isGone = try work.removeUnused(folder)
            if !isGone {
                entries = try Folder.names(in: folder)
                let isBack = try self.isThere(record, in: folder)
                isGone = entries.allSatisfy(\.isHidden) && !isBack
                if isGone { try clear(folder, of: record?.id ?? slot, &findings) }
            }
            if isGone {
                if let record { vanish(record, "its drop is gone from the work folder", &findings) }
                return
            }
        }
        if let record, isThere || !entries.contains(where: { !$0.isHidden && $0 != record.drop.name }) {
            findings.resumed.append(try resume(record, folder, entries, &findings))
            return
        }
        if record == nil, isUsed, !hadSlots {
            let kept = try work.setAside(folder, as: slot)
            findings.warnings.append(
                "'\(folder.text)' held a drop although its job is over: an older version left it there. It is kept in "
                    + "'\(kept.text)'; check whether you need it, and remove it")
            return
        }
        // An older journal says that another job was in it.
        if let record { vanish(record, "its folder holds another drop", &findings) }
        // What stages told others of it before a kill bears the id that it had.
        let id = record == nil && !isUsed ? slot : ids.next()
        if let job = try work.job(in: folder, as: id, of: pipeline) {
            for entry in entries where entry.isHidden && !Self.kept.contains(entry.text) {
                try Folder.remove(folder.appending(entry))
            }
            findings.adopted.append(job)
        } else {
            findings.warnings.append("'\(folder.text)' holds something that is not a drop; it is left alone")
        }
    }

    /// Without a drop the origin of these files is unknown: stages may have made them from it, or a marker is among
    /// them.
    private func clear(_ folder: FilePath, of id: JobID, _ findings: inout Findings) throws(IOError) {
        let kept = try work.setAside(folder, as: id)
        findings.warnings.append(
            "the folder of job \(id) held no drop, only files made by stages: it is kept in '\(kept.text)'; check "
                + "whether you need it, and remove it")
    }

    /// Whether a drop can be examined by its name: what a network file system lists may be old.
    private func isThere(_ record: JobRecord?, in folder: FilePath) throws(IOError) -> Bool {
        guard let drop = record?.drop.name else { return false }
        return try FileIdentity.find(folder.appending(drop)) != nil
    }

    /// A job with its folder and its record goes on at its first unfinished stage, or from the beginning where what was
    /// made so far may not be whole or would be made differently now.
    private func resume(
        _ found: JobRecord, _ folder: FilePath, _ entries: [FileName], _ findings: inout Findings
    ) throws(IOError) -> Resumed {
        var record = found
        // The journal alone says where it is, so that is not believed of what lies elsewhere.
        let isUsable = { (payload: Payload) in
            bounds.allow(payload, in: folder)
                && ([payload.path] + payload.copies.map(\.path)).allSatisfy { Folder.kind(of: $0) != nil }
        }
        record.goOn(under: pipeline.definition, at: now, isThere: isUsable)
        // What a drop that stays its sender's looked like before is not known any more.
        let isKept = pipeline.ownership == .keep && record.payload?.isDrop ?? true
        if wasRebooted || !(record.payload.map(isUsable) ?? true) || isKept || record.stage > pipeline.stages.count {
            record.beginAgain(at: 0)
        }
        if wasKilled, record.recoveries == 0 || record.state == .running {
            record.recoveries += 1
            record.history.append(Transition("recovered", at: now))
        }
        if record.state == .running || record.state == .settling { record.state = .queued }
        let payloads = [record.payload].compactMap { $0 } + Array((record.inputs ?? [:]).values)
        let kept = payloads.flatMap { [$0.root] + $0.copies.map(\.path) }
        for entry in entries where entry.isHidden && !Self.kept.contains(entry.text) {
            let path = folder.appending(entry)
            if !kept.contains(where: { $0.starts(with: path) }) { try Folder.remove(path) }
        }
        let job = record.job(in: folder)
        let failure: Failure
        if record.recoveries < Self.limit(of: pipeline) {
            do throws(IOError) {
                let seal = pipeline.ownership == .keep ? try Seal(of: job) : nil
                // What was found again stands as lost until then.
                if record != found || found.isFoundAgain { findings.changed.append(record) }
                let isQuarantined = Self.isQuarantined(record.recoveries, in: pipeline)
                return Resumed(
                    job: job, record: record, state: record.progress ?? .queued(stage: 0, failures: 0),
                    isQuarantined: isQuarantined, seal: seal)
            } catch {
                guard error.isSendersDoing else { throw error }
                failure = .changed(error.path, of: job)
            }
        } else {
            failure = .file(
                "recovery.limit", "The daemon stopped \(record.recoveries) times while this job was running.",
                remedy: "The file may be the cause: check the log of these times before sending it again.")
        }
        record.failure = failure
        findings.changed.append(record)
        return Resumed(job: job, record: record, state: .settling(.failed(failure)), isQuarantined: false)
    }

    /// A record whose folder is gone. One that was being settled is over but for the journal, also where the folder was
    /// set aside; else a power cut may have undone the claim, and the drop is in the inbox again.
    private func withoutFolder(_ record: JobRecord, _ findings: inout Findings) {
        guard !mayBeAway else {
            findings.stranded.append(record.id)
            return
        }
        // Its file system may be away, and then nothing of what is missing was moved: only what lies at its target is.
        let areMoved = !record.intents.isEmpty && record.intents.allSatisfy(isMoved)
        let isAside: Bool
        do throws(IOError) {
            isAside = try work.hasSetAside(record.id)
        } catch {
            findings.stranded.append(record.id)
            return
        }
        if record.state == .settling, areMoved || isAside, record.recoveries < Self.settlementLimit {
            rollForward(record, work.folder(record.folder), &findings)
        } else {
            vanish(record, "its folder is gone from the work folder", &findings)
        }
    }

    /// Whether everything that a settlement moves is at its source or at its target, as far as that is seen.
    func isComplete(_ record: JobRecord) -> Bool {
        record.intents.allSatisfy { FileIdentity.of($0.source) != nil || isMoved($0) }
    }

    /// Whether it lies at its target, as far as its inode tells: a rename gets nowhere but on its mount. A device has
    /// another number after a mount, and in overlayfs a file may have another one than its folder.
    private func isMoved(_ intent: Intent) -> Bool {
        guard FileIdentity.of(intent.target)?.inode == intent.identity.inode else { return false }
        let mounts = [intent.target.removingLastComponent(), work.active].map { folder in
            folder.withPlatformString { dm_mount_id($0) }
        }
        return mounts[0] == mounts[1]
    }

    private func vanish(_ record: JobRecord, _ note: String, _ findings: inout Findings) {
        var record = record
        record.lose(because: note, at: now)
        findings.changed.append(record)
        // A power cut may have undone the claim: that is normal, and the drop is in the inbox.
        if !wasRebooted { findings.warnings.append("job \(record.id) ('\(record.drop.name)'): \(note)") }
    }

    /// Whether the settlement may have moved something, or is that of a failure. Before the intents are on record
    /// nothing is moved, and the outputs need not be on the disk either: then the job is one like any other.
    private static func isRollingForward(_ record: JobRecord) -> Bool {
        record.state == .settling && (!record.intents.isEmpty || record.failure != nil)
    }

    /// A settlement goes on. One that the daemon died of too often cannot fail instead, since part of it may be made;
    /// it is left to the operator, and holds up no other.
    private func rollForward(_ found: JobRecord, _ folder: FilePath, _ findings: inout Findings) {
        var record = found
        let job = record.job(in: folder)
        let bounds = record.failure?.isRelease ?? false ? IntentBounds(of: pipeline.givingBack) : bounds
        if let strange = record.intents.first(where: { !bounds.allow($0, of: job) }) {
            let failure = Failure.outside(strange, of: job)
            return leave(
                record,
                "\(failure.summary) Job \(record.id) is not settled (\(failure.code)): it is left alone in "
                    + "'\(folder.text)'. \(failure.remedy)", &findings)
        }
        guard record.recoveries < Self.settlementLimit else {
            return leave(
                record,
                "the daemon stopped \(record.recoveries) times while job \(record.id) ('\(record.drop.name)') was "
                    + "being settled; it is left alone in '\(folder.text)', and part of it may be published. Check "
                    + "the log of these times; then run 'dropmill forget \(record.id)', which keeps the folder, "
                    + "remove what was published, and send the drop again", &findings)
        }
        // A quarantined job is counted when its turn comes: waiting ones are not to blame.
        if wasKilled, !Self.isQuarantined(record.recoveries, in: pipeline) {
            record.recoveries += 1
            record.history.append(Transition("recovered", at: now))
            findings.changed.append(record)
        }
        // `forget` must not take what goes on again.
        if record.isLeftAlone {
            record.history.append(Transition("recovered", at: now))
            findings.changed.append(record)
        } else if found.isFoundAgain {
            findings.changed.append(record)
        }
        let outcome = record.failure.map { JobState.Outcome.failed($0) } ?? .processed
        findings.resumed.append(
            Resumed(
                job: job, record: record, state: .settling(outcome),
                isQuarantined: Self.isQuarantined(record.recoveries, in: pipeline)))
    }

    /// A job that no start goes on with. Its history says why, for `show`; and `forget` may have it.
    private func leave(_ found: JobRecord, _ why: String, _ findings: inout Findings) {
        findings.parked += 1
        findings.warnings.append(why)
        guard !found.isLeftAlone else { return }
        var record = found
        record.history.append(Transition(JobRecord.leftAlone, at: now, note: why))
        findings.changed.append(record)
    }

    /// After so many recoveries a settlement is left alone. It runs nothing that a sender made, so something else most
    /// likely stopped the daemon: a person, or a service manager that would not wait.
    static let settlementLimit = 10

    /// After so many recoveries a job fails. Not after the first, whatever is configured: one stop says nothing of
    /// which job was its cause, since it is counted for all that there were.
    static func limit(of pipeline: Pipeline) -> Int { max(2, pipeline.retry.attempts) }

    /// Whether a job with so many recoveries may be what the daemon dies of: from the second on, and always before the
    /// one that would be too many.
    static func isQuarantined(_ recoveries: Int, in pipeline: Pipeline) -> Bool {
        recoveries >= quarantineLimit(in: pipeline)
    }

    static func quarantineLimit(in pipeline: Pipeline) -> Int { min(2, limit(of: pipeline) - 1) }
}

extension JobRecord {
    /// Whether nothing was to be moved, and its drop may be deleted by now: its claim was on the disk before.
    fileprivate var isDeleting: Bool {
        guard state == .settling, intents.isEmpty else { return false }
        return history.last { !["recovered", Self.leftAlone, Self.foundAgainEvent].contains($0.event) }?.event
            == "settling"
    }
}

import CLinux
package import Files
import FolderWatch
import Glibc
package import PipelineKit
package import Readiness
package import SystemPackage

/// Moves drops and outputs of one pipeline: claim, publish, settle. The only renames are here.
package struct Spool: Sendable {
    package private(set) var pipeline: Pipeline
    /// Its work folder.
    package let work: WorkFolder
    /// Detects who has drops open for writing.
    package let sight: WriterSight
    /// The folders that all spools of the engine created for outputs.
    let made: MadeFolders
    /// Whose turn it is to rename on its file system.
    let renaming: RenameTurns.Turn
    /// The configured target folders.
    private(set) var targets: [FilePath]
    /// The folders that it may move things between.
    private(set) var bounds: IntentBounds
    /// Which drops take the quick lane; nil where there is none.
    private(set) var lane: LaneRule?
    /// Whether its pipeline has another work folder by now: what is in this one goes on, and nothing comes in.
    private(set) var isTail = false
    /// How much fits on the inbox's file system; nil if unknown.
    private let capacity: ByteSize?
    /// The folders that it publishes nothing into.
    let reserved: ReservedFolders
    /// What jobs are still to add to lists.
    let outstanding: OutstandingLines
    /// Asked after each slice of a look at a folder, with when the look began: whether to break it off.
    private(set) var breaksOff: @Sendable (_ begun: MonotonicTime) -> Bool = { @Sendable _ in false }

    /// A spool. `reserved`, `made`, `renames` and `outstanding` are shared by all that run beside each other; nil:
    /// reserved are those of this pipeline.
    init(
        pipeline: Pipeline, work: WorkFolder, reserved: ReservedFolders? = nil, made: MadeFolders = MadeFolders(),
        renames: RenameTurns = RenameTurns(), outstanding: OutstandingLines = OutstandingLines()
    ) {
        self.reserved = reserved ?? ReservedFolders(of: [pipeline], state: nil)
        self.outstanding = outstanding
        capacity = FreeSpace.capacity(of: pipeline.inbox)
        self.pipeline = pipeline.holding(atMost: capacity)
        self.made = made
        renaming = renames.turn(of: work.whole.device)
        targets = OwnFolders.targets(of: pipeline).map(\.path)
        bounds = IntentBounds(of: pipeline)
        self.work = work
        sight = WriterSight(of: pipeline.inbox, isPatient: true)
        lane = LaneRule(of: pipeline).flatMap { LaneRule.farFolder(of: pipeline) == nil ? $0 : nil }
    }

    /// The same, whose pipeline has another work folder by now.
    func tail(of new: Pipeline) -> Spool {
        var own = new
        (own.inbox, own.work) = (pipeline.inbox, work.path)
        var tail = going(by: own)
        tail.isTail = true
        return tail
    }

    /// The same for a pipeline with this inbox and work folder. Looks at nothing: their file system may not answer.
    func going(by own: Pipeline) -> Spool {
        var spool = self
        spool.pipeline = own.holding(atMost: capacity)
        (spool.targets, spool.bounds, spool.lane) = (
            OwnFolders.targets(of: own).map(\.path), IntentBounds(of: own), nil
        )
        return spool
    }

    /// The same, whose looks at folders are broken off by the error `canceled` when that says so.
    func breakingOff(_ breaksOff: @escaping @Sendable (_ begun: MonotonicTime) -> Bool) -> Spool {
        var spool = self
        spool.breaksOff = breaksOff
        return spool
    }

    /// The folders that claimed drops and their originals are in, the same at each start: work, processed and failed.
    package var folders: [FilePath] {
        if case .folder(let processed) = pipeline.processed { return [work.common, processed, pipeline.failed] }
        return [work.common, pipeline.failed]
    }

    /// A claimed drop.
    package struct Claimed: Sendable {
        /// Its job.
        package let job: Job
        /// Which inode it was in the inbox.
        package let identity: FileIdentity
        /// When its content was changed last; nil where that is not known.
        package var modified: FileTime?
        /// Its state at the claim, if it still belongs to its sender.
        package var seal: Seal?
        /// Why it fails without running; nil for a drop that is complete.
        package var failure: Failure?
        /// How it came to its claim, where this process saw that.
        var arrival: Arrival?
    }

    /// The result of a claim.
    package enum Claim: Sendable {
        /// The drop is claimed; its proof follows.
        case claimed(Job)
        /// It was gone.
        case vanished
        /// It cannot be moved; it stays where it is.
        case refused(String)
    }

    /// The result of proving a claimed drop.
    package enum Proof: Sendable {
        case complete(Claimed)
        /// It changed at the last moment or is still open for writing: it has to stand still again, in its job's
        /// folder. Why.
        case stillWritten(String)
        /// It can be taken over only by a copy, which may take long (`takeCopy`).
        case copying
    }

    /// Claims a drop that stands in the inbox as `ready`: renames it into a new job's folder. The rename is the claim;
    /// exactly one process can win it. The proof that it is complete comes after, where nobody can open it by name.
    ///
    /// `path`: where that folder is in the inbox.
    /// `rejected`: it is not complete and never will be; it is taken as it is, to fail for that reason.
    ///
    /// Throws problems of our own folders.
    package func claim(
        _ name: FileName, ready: Fingerprint, in inbox: borrowing OpenFile, at path: InboxFolder = .top, as id: JobID,
        rejected: Failure? = nil
    ) throws(IOError) -> Claim {
        let folder = try work.makeFolder(for: id)
        let target = folder.appending(name)
        do throws(IOError) {
            // Before the rename: an adopted job must never be taken for a complete one.
            try note(path, rejected, in: folder)
            var error = Self.take(name, in: inbox, as: target)
            if error == .noSuchFileOrDirectory, try work.restore(folder) {
                try note(path, rejected, in: folder)
                error = Self.take(name, in: inbox, as: target)
            }
            if let error, try !hasArrived(at: target, despite: error, as: id) {
                return try refusal(of: inbox.path.appending(name), at: path, error)
            }
        } catch {
            // Whether the drop arrived is decided when the folder can be examined.
            work.doubt(folder, of: id)
            throw error
        }
        let drop = Drop(
            name: name, folders: path.names, size: ready.size, droppedAt: Timestamp(ready.changed),
            isFolder: pipeline.ready.unit == .folder && Folder.kind(of: target) == .folder)
        return .claimed(Job(id: id, pipeline: pipeline.name, drop: drop, claimedAt: .now(), folder: folder))
    }

    private func note(_ path: InboxFolder, _ rejected: Failure?, in folder: FilePath) throws(IOError) {
        guard !path.isTop || rejected != nil else { return }
        _ = try work.restore(folder)
        if !path.isTop { try Origin.note(path, in: folder) }
        if let rejected { try Rejection.write(rejected, in: folder) }
    }

    /// Whether a drop is in its job's folder although its rename failed (`MadeCalls`): nobody else puts anything there.
    /// Where it is not, the folder goes, and is not kept for the next job: perhaps nothing can be moved into this one.
    private func hasArrived(at target: FilePath, despite error: Errno, as id: JobID) throws(IOError) -> Bool {
        // The name belongs to a note of ours, which stays.
        if error == .fileExists, let name = target.lastName, WorkFolder.isNote(name) { return false }
        if try Spot(target).statusNow != nil { return true }
        let folder = target.removingLastComponent()
        if try work.removeUnused(folder) { return false }
        if try Spot(target).statusNow != nil { return true }
        // What else is in it is found by its folder.
        work.doubt(folder, of: id)
        return false
    }

    /// What a refused rename means.
    private func refusal(of drop: FilePath, at path: InboxFolder, _ error: Errno) throws(IOError) -> Claim {
        switch error {
        // Otherwise the job's folder has been removed.
        case .noSuchFileOrDirectory where try Spot(drop).statusNow == nil: return .vanished
        case .notPermitted:
            return .refused(
                "Dropmill's user is not allowed to move it (\(error)); check the inbox's owner, its "
                    + "sticky bit, and chattr"
            )
        // Its `..` changes with the move, so it must be writable itself (rename(2)).
        case .permissionDenied where Folder.kind(of: drop) == .folder:
            return .refused(
                "Dropmill's user is not allowed to move it (\(error)); moving a folder needs write "
                    + "permission on it: check its owner and mode")
        // The senders' own folders; one of them must not hold up the others.
        case .permissionDenied where !path.isTop:
            return .refused(
                "Dropmill's user is not allowed to move it out of its folder (\(error)); give that user "
                    + "write permission on the folder")
        case .improperLink where !path.isTop:
            return .refused("its folder is on a different mount from the inbox; give that one its own pipeline")
        // Where it is not the inbox as a whole that is on another mount by now.
        case .improperLink where isInboxInPlace:
            return .refused(
                "it cannot be renamed (\(error)), like a folder of an overlay's lower layer; copy it "
                    + "into the inbox again")
        // One file that cannot be moved (a mount point, a long name) must not hold up the others.
        case let error where error != .improperLink && error.trouble(with: .result) != .pauses:
            return .refused("it cannot be moved: \(error)")
        default: throw IOError("claim", drop, error)
        }
    }

    private var isInboxInPlace: Bool {
        do throws(Failure) {
            try checkInbox()
            return true
        } catch {
            return false
        }
    }

    /// Whether the claimed drop is what was found ready, with nobody writing to it. What has other hard links becomes a
    /// private copy first, since its other names still reach the inode.
    ///
    /// `claimed`: a time since which it is claimed: a look at the machine's processes has to be younger. Drops that are
    /// proved together share one.
    /// `othersNeedMarker`: whether other drops need its marker, so that it stays; nil: that is found out.
    /// `isRejected`: whether it was claimed to fail; nil: that is found out.
    package func prove(
        _ job: Job, ready: Fingerprint, claimed: MonotonicTime, othersNeedMarker: Bool? = nil, isRejected: Bool? = nil
    ) throws(IOError) -> Proof {
        try fetchMarker(of: job, isNeeded: othersNeedMarker)
        if isRejected ?? true, let failure = try Rejection.read(in: job.folder) {
            let identity = FileIdentity.of(job.original) ?? ready.identity
            let job = job.with(from: job.producer ?? Self.producer(of: job))
            return .complete(Claimed(job: job, identity: identity, modified: ready.modified, failure: failure))
        }
        let look = try look(at: job, since: claimed)
        if case .blocked(let error, _) = look.sample { return .stillWritten(Waiting.blocked("\(error)").text) }
        if look.excess != nil { return .stillWritten("it grew while it was claimed") }
        guard case .file(let fingerprint, let writers) = look.sample else {
            return .stillWritten("it was replaced by something that is not a drop")
        }
        if !fingerprint.sameContent(as: ready) { return .stillWritten("it changed while it was claimed") }
        if case .some(let writer) = writers { return .stillWritten(Waiting.heldOpen(writer).text) }
        let producer = job.producer ?? look.owner.map { Self.producer(of: $0) } ?? Self.producer(of: job)
        return try secure(job.with(from: producer), look, fingerprint)
    }

    /// The proof of a drop without objections.
    func complete(_ job: Job, _ state: Fingerprint) throws(IOError) -> Proof {
        let drop = Drop(
            name: job.drop.name, folders: job.drop.folders, size: state.size, droppedAt: job.drop.droppedAt,
            isFolder: job.drop.isFolder)
        let complete = job.with(drop, from: job.producer)
        let seal = pipeline.ownership == .keep ? try Seal(of: job) : nil
        return .complete(Claimed(job: complete, identity: state.identity, modified: state.modified, seal: seal))
    }

    /// The result of examining a claimed drop.
    package struct Look: Sendable {
        let sample: Sample
        /// Files in it with other hard links.
        var linked: [FilePath] = []
        /// Whether some of it is not ours alone.
        var isForeign = false
        /// Whose it is now, where that was seen.
        var owner: uid_t?
        /// The limit that it exceeds.
        var excess: ReadyRule.Limits.Excess?
    }

    /// One look at a claimed drop. `since`: what a look at the machine's processes has to be younger than; nil: about
    /// now. `asksAlways`: for open writers, even where the pipeline does not wait for them.
    package func look(
        at job: Job, since: MonotonicTime? = nil, asksAlways: Bool = false
    ) throws(IOError) -> Look {
        let attributes = Attributes.deciding(sight)
        let sight = asksAlways || pipeline.ready.writers == .wait ? sight : nil
        if job.drop.isFolder {
            do throws(IOError) {
                let folder = try OpenFile.openFolder(job.folder)
                let look = try TreeLook.examine(
                    job.drop.name, in: folder, limits: pipeline.ready.limits, asking: sight, since: since,
                    by: attributes, breaksOff: breaksOff)
                return Look(
                    sample: look.sample, linked: look.linked, isForeign: look.isForeign, excess: look.excess)
            } catch {
                guard error.errno != .canceled else { throw error }
                return Look(sample: error.isUnreachable ? .gone : try Sample.blocked(error, nil))
            }
        }
        var status = stat()
        do throws(IOError) {
            let file = try OpenFile.open(job.original, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
            status = try attributes.of(file)
            guard FileKind(mode: status.st_mode) == .regular else {
                return Look(sample: .refused("it is not a regular file"))
            }
            let fingerprint = Fingerprint(status)
            let writers = sight?.writers(of: file.descriptor, fingerprint.identity, since: since) ?? .notAsked
            return Look(
                sample: .file(fingerprint, writers), linked: status.st_nlink > 1 ? [job.original] : [],
                isForeign: Ownership.isForeign(status), owner: status.st_uid,
                excess: pipeline.ready.limits.excess(ofSize: fingerprint.size))
        } catch {
            let path = job.original
            switch error.errno {
            // A symbolic link or a socket replaced the file just before the claim.
            case .tooManySymbolicLinkLevels, .noSuchAddressOrDevice:
                return Look(sample: .refused("it is not a regular file"))
            // A file that may not be read is complete for all that can be seen; the first stage says what is wrong.
            case .permissionDenied, .resourceTemporarilyUnavailable: break
            case .noSuchFileOrDirectory: throw error
            default: return Look(sample: try Sample.blocked(error, nil))
            }
            guard path.withPlatformString({ lstat($0, &status) }) == 0 else { throw IOError("examine", path, .last) }
            let fingerprint = Fingerprint(status)
            // A process holds a write lease on it.
            if error.errno == .resourceTemporarilyUnavailable {
                guard sight != nil else { return Look(sample: .blocked(error.errno, fingerprint)) }
                return Look(sample: .file(fingerprint, .some(LeaseHolders.holder(of: fingerprint.identity))))
            }
            return Look(
                sample: .file(fingerprint, sight?.seen(fingerprint.identity, since: since) ?? .notAsked),
                isForeign: Ownership.isForeign(status), owner: status.st_uid,
                excess: pipeline.ready.limits.excess(ofSize: fingerprint.size))
        }
    }
}

extension Spool {
    /// Whose reserved folders its own are.
    var owner: String { isTail ? work.path.string : pipeline.name }

    /// Looks up which folders nothing is published into because of it.
    func noteReserved() { reserved.note(pipeline, of: owner) }

    package var diskSync: DiskSync { DiskSync(pipeline.durability) }
}

extension Pipeline {
    /// Only sparse files can be larger than their file system: exabytes of zeros for whatever reads them.
    fileprivate func holding(atMost capacity: ByteSize?) -> Pipeline {
        var pipeline = self
        if pipeline.ready.limits.size == nil { pipeline.ready.limits.size = capacity }
        return pipeline
    }
}

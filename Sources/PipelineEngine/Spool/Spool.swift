import CLinux
import Glibc
package import PipelineKit
package import SystemPackage

/// Moves drops and outputs of one pipeline: claim, publish, settle. The only renames are here.
package struct Spool: Sendable {
    /// The pipeline.
    package let pipeline: Pipeline
    /// Its work folder.
    package let work: WorkFolder

    /// A spool.
    package init(pipeline: Pipeline, work: WorkFolder) {
        self.pipeline = pipeline
        self.work = work
    }

    /// The folders that claimed drops and their originals are in: work, processed and failed.
    package var folders: [FilePath] {
        if case .folder(let processed) = pipeline.processed { return [work.path, processed, pipeline.failed] }
        return [work.path, pipeline.failed]
    }

    /// A drop that is ours.
    package struct Claimed: Sendable {
        /// Its job.
        package let job: Job
        /// Which inode it was in the inbox.
        package let identity: FileIdentity
    }

    /// What became of a claim.
    package enum Claim: Sendable {
        /// The drop is ours and complete.
        case taken(Claimed)
        /// The drop is ours, but it changed at the last moment or is still open for writing: it has to stand still
        /// again, in its job's folder.
        case draining(Job, reason: String)
        /// It was gone.
        case vanished
        /// It cannot be moved; it stays where it is.
        case refused(String)
    }

    /// Claims a drop that stands in the inbox as `ready`: renames it into a new job's folder. The rename is the claim;
    /// exactly one process can win it. The proof that it is complete comes after, where nobody can open it by name.
    ///
    /// `path`: where that folder is in the inbox. Throws what is wrong with our own folders.
    package func claim(
        _ name: FileName, ready: Fingerprint, in inbox: borrowing OpenFile, at path: InboxFolder = .top, as id: JobID
    ) throws(IOError) -> Claim {
        let folder = try work.makeFolder(of: id)
        if !path.isTop { try Origin.note(path, in: folder) }
        let target = folder.appending(name)
        let from = inbox.descriptor
        let renamed = name.withCString { old in
            target.withPlatformString { dm_rename_noreplace(from, old, AT_FDCWD, $0) }
        }
        guard renamed == 0 else {
            let error = Errno.last
            try work.removeFolder(of: id)
            switch error {
            case .noSuchFileOrDirectory: return .vanished
            case .notPermitted:
                return .refused(
                    "the user that Dropmill runs as may not move it (\(error)); check the inbox's owner, its "
                        + "sticky bit, and chattr"
                )
            case .improperLink where !path.isTop:
                return .refused("its folder is another mount than the inbox; give that one a pipeline of its own")
            // A file that alone cannot be moved (a mount point, a name too long) must not hold up the others.
            case let error where !error.isEnvironmental && error != .improperLink:
                return .refused("it cannot be moved: \(error)")
            default: throw IOError("claim", inbox.path.appending(name), error)
            }
        }
        let job = Job(
            id: id, pipeline: pipeline.name,
            drop: Drop(
                name: name, folders: path.names, size: ready.size,
                droppedAt: Timestamp(nanoseconds: ready.changed)),
            claimedAt: id.time, folder: folder)
        do throws(IOError) {
            return try prove(job, ready: ready)
        } catch {
            // It is ours by now: whatever is wrong, it must not be forgotten.
            return .draining(job, reason: "\(error)")
        }
    }

    /// Whether the claimed drop is what was found ready, with nobody writing to it. One with other hard links becomes a
    /// private copy first, since another name still reaches the inode.
    package func prove(_ job: Job, ready: Fingerprint) throws(IOError) -> Claim {
        let sample = try look(at: job)
        guard case .file(let fingerprint, let writers) = sample.sample else {
            return .draining(job, reason: "it was replaced by something that is no file")
        }
        if !fingerprint.sameContent(as: ready) { return .draining(job, reason: "it changed while it was claimed") }
        if pipeline.ready.writers == .wait, writers == .some {
            return .draining(job, reason: "a process has it open for writing")
        }
        if sample.links > 1, try !makePrivate(job, fingerprint) {
            return .draining(job, reason: "it changed while it was copied, by another name that it has")
        }
        let drop = Drop(
            name: job.drop.name, folders: job.drop.folders, size: fingerprint.size, droppedAt: job.drop.droppedAt)
        let complete = Job(
            id: job.id, pipeline: job.pipeline, drop: drop, claimedAt: job.claimedAt, folder: job.folder)
        return .taken(
            Claimed(job: complete, identity: FileIdentity(device: ready.device, inode: ready.inode)))
    }

    /// One look at a claimed drop.
    package func look(at job: Job) throws(IOError) -> (sample: Sample, links: Int) {
        do throws(IOError) {
            let file = try OpenFile.open(job.original, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
            let status = try file.status()
            guard FileKind(mode: status.st_mode) == .regular else { return (.refused("it is no regular file"), 1) }
            let writers = pipeline.ready.writers == .wait ? OpenWriters.probe(file.descriptor) : .notAsked
            return (.file(Fingerprint(status), writers), Int(status.st_nlink))
        } catch {
            // A file that may not be read is complete for all that can be seen; the first stage says what is wrong.
            guard error.errno == .permissionDenied else { throw error }
            var status = stat()
            let path = job.original
            guard path.withPlatformString({ lstat($0, &status) }) == 0 else { throw IOError("examine", path, .last) }
            return (.file(Fingerprint(status), .unknown), 1)
        }
    }

    /// Puts a copy in the drop's place; false where the drop changed meanwhile, so that the copy may be torn.
    private func makePrivate(_ job: Job, _ before: Fingerprint) throws(IOError) -> Bool {
        let copy = job.folder.appending(".private")
        try Folder.remove(copy)
        try Transfer.copyFile(job.original, to: copy)
        let after = try look(at: job).sample
        guard case .file(let fingerprint, let writers) = after, fingerprint == before, writers != .some else {
            try Folder.remove(copy)
            return false
        }
        let renamed = copy.withPlatformString { from in job.original.withPlatformString { rename(from, $0) } }
        guard renamed == 0 else { throw IOError("rename", job.original, .last) }
        return true
    }
}

import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// Takes jobs over from a work folder that the pipeline had in an earlier run: its inbox was moved, or `work:` was set,
/// or a file system was mounted there.
struct MovedWork {
    /// What a look at an earlier place came to.
    enum Outcome {
        /// Whatever was there is here now, so many jobs. Of those that were in both places in two states, one was set
        /// aside: where it is.
        case taken(Int, aside: [FilePath])
        /// It cannot be reached, or not by us: a sentence.
        case left(String)
    }

    private let work: WorkFolder
    private let pipeline: String

    /// Takes them over to this work folder of a pipeline.
    init(to work: WorkFolder, of pipeline: String) {
        self.work = work
        self.pipeline = pipeline
    }

    /// Takes over what is in another one. A job whose folder could not be moved stays there whole. `isStale`: whether
    /// this one was worked in later than that; else nothing has begun here with what was taken before.
    ///
    /// `known`: the folders of jobs that are on record as not over, which are moved even if they are empty.
    func takeOver(from place: FilePath, isStale: Bool, known: Set<JobID> = []) -> Outcome {
        let active = place.appending("active")
        guard Folder.kind(of: active) == .folder else { return .left("it does not exist") }
        do throws(FolderError) {
            guard let status = Spot(active).status, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
                return .left("users other than \(AccountName.user(geteuid())) have access to it")
            }
            let lock = try FolderLock(place, describedAs: "the work folder")
            defer { lock.release() }
            // Another host's daemon may have gone on there, and have its jobs at work.
            let owner = try WorkOwner(of: place, of: pipeline, isShared: FileSystemKind.of(place) != .local)
            defer { owner.release() }
            return takeOver(allFrom: place, isStale, known)
        } catch {
            return .left(error.message)
        }
    }

    private func takeOver(allFrom place: FilePath, _ isStale: Bool, _ known: Set<JobID>) -> Outcome {
        do throws(IOError) {
            let active = place.appending("active")
            let folder = try Folder.open(active)
            var count = 0
            var aside: [FilePath] = []
            for name in try folder.names() {
                guard let id = JobID(name.text) else { continue }
                // One that waited for the next job.
                if !known.contains(id), active.appending(name).withPlatformString({ rmdir($0) }) == 0 { continue }
                count += 1
                guard try !move(name, in: folder, at: active) else { continue }
                if isStale {
                    aside.append(try WorkFolder.setAside(id, of: id, below: place))
                } else {
                    aside.append(try work.setAside(work.folder(id), as: id))
                    _ = try move(name, in: folder, at: active)
                }
            }
            // Empty by now; anything foreign keeps it.
            for empty in [active, place.appending("trash")] { _ = empty.withPlatformString { rmdir($0) } }
            return .taken(count, aside: aside)
        } catch {
            return .left("\(error)")
        }
    }

    /// By a rename; where that cannot reach by a copy, which gets its name once it is on the disk. False where
    /// something else has that.
    private func move(_ name: FileName, in folder: borrowing Folder, at active: FilePath) throws(IOError) -> Bool {
        let (source, target) = (active.appending(name), work.active.appending(name))
        do throws(IOError) {
            try NoReplace.rename(source, to: target)
            return true
        } catch {
            guard error.errno == .improperLink || error.errno == .fileExists else { throw error }
        }
        let job = FilePath().appending(name)
        // Where it cannot be removed it must be out of the way all the same, or each start would find it again.
        let trash = active.removingLastComponent().appending("trash")
        try Folder.make(trash, mode: 0o700)
        // A start that was broken off may have got as far as that. One that was broken off long ago left what is no
        // copy any more.
        if try FileIdentity.find(target) != nil {
            guard try Transfer.isCopy(job, in: try Folder.open(work.active), of: job, in: folder) else { return false }
        } else {
            let copy = FilePath(WorkFolder.takingName)
            let here = try Folder.open(work.path)
            try here.remove(copy)
            try Transfer.copy(job, in: folder, to: copy, in: here)
            try Self.keepSender(source, work.path.pushing(copy))
            guard try Transfer.isCopy(copy, in: here, of: job, in: folder) else {
                throw IOError("take over by a copy (it holds something else)", source, .ioError)
            }
            try work.whole.sync()
            try NoReplace.rename(work.path.pushing(copy), to: target)
        }
        try work.whole.sync()
        let gone = trash.appending(name)
        try NoReplace.rename(source, to: gone)
        do throws(IOError) {
            try Folder.remove(gone)
        } catch {
            // Nobody looks there any more.
        }
        return true
    }

    /// Whose a drop was is noted in an attribute, which a copy does not have.
    private static func keepSender(_ source: FilePath, _ copy: FilePath) throws(IOError) {
        guard let drop = try Folder.names(in: source).first(where: { !$0.isHidden }) else { return }
        try Spool.copySender(from: source, to: copy, drop)
    }
}

extension JobRecord {
    /// The record of a job whose folder lay in another work folder, as it is in this one.
    func moved(from place: FilePath, to work: FilePath) -> JobRecord {
        var record = rebased(from: place, to: work)
        if record != self { record.history.append(Transition("moved", at: .now(), note: "from '\(place.text)'")) }
        return record
    }

    /// The same, with nothing said of it.
    func rebased(from place: FilePath, to work: FilePath) -> JobRecord {
        var record = mappingPaths { path in
            var below = path
            return below.removePrefix(place) ? work.pushing(below) : path
        }
        for index in record.intents.indices {
            if let identity = FileIdentity.of(record.intents[index].source) {
                record.intents[index].identity = identity
            }
        }
        return record
    }
}

import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// One move: a rename or, to another file system, a copy.
extension Mover {
    enum Move {
        case renamed
        /// The source is still there; it may go once the copy's name is on disk.
        case copied
        /// Not at all: the name is taken.
        case taken
    }

    mutating func move(
        _ intent: Intent, to folder: HeldFolder, of job: Job, isReplay: Bool, givesBack: Bool
    ) throws(IOError) -> Move {
        let (source, target) = (Spot(intent.source), Spot(intent.target.lastEntry, in: folder))
        do throws(IOError) {
            try NoReplace.rename(source, to: target, known: intent.identity)
            return .renamed
        } catch {
            switch error.errno {
            case .fileExists where spool.pipeline.onConflict == .replace && Self.areAlike(source, target):
                replaced.insert(intent.target)
                try NoReplace.replace(target, with: source)
                return .renamed
            // The source is still there, so what has the name is another file, even with the same content.
            case .fileExists: return .taken
            case .improperLink:
                return try moveAcross(intent, to: folder, of: job, isReplay: isReplay, givesBack: givesBack)
            default: throw error
            }
        }
    }

    /// To another file system, or another mount: a copy under a hidden name of this job, compared with its source and
    /// brought to the disk, then renamed.
    private mutating func moveAcross(
        _ intent: Intent, to folder: HeldFolder, of job: Job, isReplay: Bool, givesBack: Bool
    ) throws(IOError) -> Move {
        let name = Self.partialName(job)
        let (partial, target) = (Spot(name, in: folder), Spot(intent.target.lastEntry, in: folder))
        let mayReplace = spool.pipeline.onConflict == .replace && Self.areAlike(Spot(intent.source), target)
        if !mayReplace, target.kind != nil {
            guard isReplay else { return .taken }
            let name = intent.target.lastEntry
            return try Self.isCopy(name, in: folder, of: intent.source, progress) ? .copied : .taken
        }
        do throws(IOError) {
            try folder.folder.remove(name)
            // Made before anything is written, so that it is notified of all that goes wrong.
            let whole = try FileSystemSync(of: folder.path)
            // Ours to the end: a new owner could prevent the comparison with a lease.
            let from = try Folder.holding(intent.source)
            let entry = intent.source.lastEntry
            try Transfer.copy(entry, in: from, to: name, in: folder.folder, closed: true) {
                progress.move()
                return false
            }
            try spool.diskSync.sync(files: try DiskSync.everything(in: partial.path), by: whole)
            guard try Self.isCopy(name, in: folder, of: intent.source, progress) else {
                // What still belongs to its sender may have changed meanwhile.
                let isOurs = try from.status(of: entry)?.st_uid == geteuid()
                throw isOurs
                    ? IOError("verify the copy", partial.path, .ioError)
                    : IOError("copy", intent.source, .resourceTemporarilyUnavailable)
            }
            try Transfer.finish(name, in: folder.folder, like: entry, in: from, syncing: spool.diskSync.isFull)
            if givesBack { try Spool.giveBack(name, of: job, in: folder.folder) }
            do throws(IOError) {
                try NoReplace.rename(partial, to: target)
            } catch {
                guard error.errno == .fileExists else { throw error }
                if mayReplace {
                    replaced.insert(intent.target)
                    try NoReplace.replace(target, with: partial)
                }
                try folder.folder.remove(name)
                return mayReplace ? .copied : .taken
            }
        } catch {
            do throws(IOError) {
                try folder.folder.remove(name)
            } catch {
                // The first error tells more; what is left is hidden, bears the job's id and goes at the next attempt.
            }
            guard error.errno == .noSpace, let most = FreeSpace.capacity(of: folder.path),
                try Self.size(of: intent.source) > most.bytes
            else { throw error }
            // Others need not wait for space that will never be there.
            throw IOError("copy", intent.target, .fileTooLarge)
        }
        return .copied
    }

    static func isCopy(
        _ copy: FilePath, in folder: HeldFolder, of source: FilePath, _ progress: SettlementProgress
    ) throws(IOError) -> Bool {
        try Transfer.isCopy(
            copy, in: folder.folder, of: source.lastEntry, in: try Folder.holding(source), moves: progress.move)
    }

    /// The disk space of a file, or of a folder's contents.
    private static func size(of path: FilePath) throws(IOError) -> Int64 {
        var size: Int64 = 0
        for file in try DiskSync.everything(in: path) {
            guard let status = FileStatus.of(file) else { continue }
            size = size.addingSaturated(
                min(Int64(status.st_size), Int64(status.st_blocks).multipliedSaturated(by: 512)))
        }
        return size
    }

    /// Whether both are folders, or neither is.
    private static func areAlike(_ one: Spot, _ other: Spot) -> Bool {
        (one.kind == .folder) == (other.kind == .folder)
    }

    /// Whether what was renamed is still at its target. Devices have other numbers after a mount, so the folder is to
    /// be on the one that the work folder is on now. (A file of an overlay may bear another number than its folder.)
    func isThere(_ intent: Intent, in folder: HeldFolder) throws(IOError) -> Bool {
        guard let there = try Spot(intent.target.lastEntry, in: folder).statusNow else { return false }
        let device = try folder.folder.file.status().st_dev
        return there.st_ino == intent.identity.inode && device == Spot(spool.work.active).status?.st_dev
    }

    /// Whether a folder took the place of an older one, which is now where it was itself.
    func isExchanged(_ intent: Intent, in folder: HeldFolder) throws(IOError) -> Bool {
        guard spool.pipeline.onConflict == .replace, let source = try FileIdentity.find(intent.source),
            source.inode != intent.identity.inode
        else { return false }
        return try isThere(intent, in: folder)
    }

    /// Removes it only if it is still our copy. It gets a hidden name first, so that no one sees a folder half removed.
    func takeBackCopy(_ intent: Intent, in folder: HeldFolder, of job: Job) throws(IOError) {
        let (name, gone) = (intent.target.lastEntry, Self.partialName(job))
        do throws(IOError) {
            guard try Spot(name, in: folder).statusNow != nil,
                try Self.isCopy(name, in: folder, of: intent.source, progress)
            else { return }
        } catch {
            // An unreadable file is not ours.
            guard error.errno.trouble(with: .drop) == .pauses else { return }
            throw error
        }
        try folder.folder.remove(gone)
        try NoReplace.rename(Spot(name, in: folder), to: Spot(gone, in: folder))
        try folder.folder.remove(gone)
    }

    private static func partialName(_ job: Job) -> FilePath { FilePath(".dropmill-\(job.id.text).partial") }
}

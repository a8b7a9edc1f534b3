import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// Makes the moves of a batch, and tracks what remains to be done: folders to sync, copies whose
/// sources must be removed.
struct Mover {
    let spool: Spool
    /// The target folders that were opened.
    var open: OpenFolders
    /// Folders with changed entries, to be synced.
    private(set) var folders: Set<FilePath> = []
    /// Sources whose copies are in their places, to be removed once their jobs are.
    private(set) var copied: Set<FilePath> = []
    /// Whether lists got lines that reach the disk with their folders.
    private var hasWrittenLists = false
    /// Targets where something older gave way.
    var replaced: Set<FilePath> = []
    /// Folders that were made just now, by this batch or another, and are on the disk once those above them are.
    private var made: [FilePath] = []
    /// Those that were made for originals by this batch.
    private(set) var madeForOriginals: Set<FilePath> = []

    let progress: SettlementProgress

    init(with spool: Spool, _ progress: SettlementProgress = SettlementProgress()) {
        self.spool = spool
        self.progress = progress
        open = spool.openFolders
    }

    /// Syncs the folders with changed entries. The result: whether the work folder's file system was synced as a whole.
    @discardableResult
    mutating func sync() throws(IOError) -> Bool {
        let (changed, isVouching, new) = (folders, hasWrittenLists, made)
        // A failed sync is not repeated: it might report success.
        (folders, hasWrittenLists, made) = ([], false, [])
        let isWhole = try spool.diskSync.sync(folders: changed, vouching: isVouching, by: spool.work.whole)
        if spool.diskSync.isFull { spool.made.forget(new) }
        return isWhole
    }

    /// Notes a folder below which entries changed, to be synced.
    mutating func changed(_ folder: FilePath) { folders.insert(folder) }

    /// Notes that a list in this folder gets lines, which are to be synced with it unless they are `alone`.
    mutating func writes(listIn folder: FilePath, alone: Bool) {
        folders.insert(folder)
        if !alone { hasWrittenLists = true }
    }

    /// Removes the sources of those moves that were made by copying.
    func removeCopied(of intents: some Sequence<Intent>) throws(IOError) {
        for intent in intents where copied.contains(intent.source) { try removeCopied(intent.source) }
    }

    /// Makes the moves of one placement and returns those that are made; nil where a name turned out to be taken: then
    /// none is to be. `vain`: those that were made and are to be taken back, which is the caller's to do.
    ///
    /// `isReplay`: an earlier attempt, perhaps of an earlier run, may have made some of them. A move was made if its
    /// source is gone: nobody else takes things from a job's folder, and who fetched the target meanwhile did what it
    /// was published for. One that was linked, and is there under both names, is finished.
    ///
    /// `isFailure`: whether the original, where it is copied, is given back to its sender.
    mutating func carryOut(
        _ intents: [Intent], of job: Job, isReplay: Bool, isFailure: Bool, vain: inout [Intent]
    ) throws(IOError) -> [Intent]? {
        var made: [Intent] = []
        for intent in intents {
            let above = intent.target.removingLastComponent()
            let found = try open.look(above)
            if case .open = found { folders.insert(above) }
            if isReplay, try FileIdentity.find(intent.source) == nil {
                guard try spool.work.isGone(intent.source) == true else {
                    throw IOError("move", intent.source, .noSuchFileOrDirectory)
                }
                if case .open(let folder) = found, try isThere(intent, in: folder) { made.append(intent) }
                continue
            }
            if isReplay, case .open(let folder) = found, try isExchanged(intent, in: folder) {
                made.append(intent)
                continue
            }
            let move: Move
            do throws(IOError) {
                switch found {
                case .open(let folder):
                    let givesBack = isFailure && intent.role == .original
                    move = try self.move(intent, to: folder, of: job, isReplay: isReplay, givesBack: givesBack)
                case .missing: throw IOError("rename", intent.target, .noSuchFileOrDirectory)
                case .others: move = .taken
                }
            } catch {
                vain = made
                throw error
            }
            switch move {
            case .taken:
                vain = made
                return nil
            case .renamed: break
            case .copied: copied.insert(intent.source)
            }
            made.append(intent)
        }
        return made
    }

    /// Makes a folder that things go into, and notes those above it that got a new entry, from this batch or from one
    /// that has not brought it to the disk yet. What is configured as it is (processed, failed) is never made here: it
    /// may be a mount that is away. Where something that is not ours is in the way, the move is told.
    mutating func makeFolder(_ path: FilePath, for role: Intent.Role = .output) throws(IOError) {
        // This batch has already moved something into it.
        if folders.contains(path) { return }
        if role == .original, case .missing = try open.look(open.root(of: path)) { return }
        var new: [FilePath] = []
        let folder = try open.make(path) { (folders: [FilePath]) in
            spool.made.note(folders)
            new += folders
        }
        guard folder != nil else { return }
        if role == .original { madeForOriginals.formUnion(new) }
        for folder in spool.made.leading(to: path) {
            made.append(folder)
            folders.insert(folder.removingLastComponent())
        }
    }

    /// Forgets a folder that was removed while it was held open, so that it is made again. Returns whether it was.
    mutating func forget(ifRemoved folder: FilePath) -> Bool {
        guard open.forgetAll(ifRemoved: folder) else { return false }
        folders.remove(folder)
        return true
    }

    /// Undoes moves: of sidecars whose thing itself could not have its name, and of a job that fails after all. What
    /// somebody fetched meanwhile, or put into its place, stays.
    ///
    /// Not where the new replaces the old: the old is gone, so there would be nothing left, and what is sent again
    /// replaces it once more.
    mutating func takeBack(_ made: [Intent], of job: Job) throws(IOError) {
        guard spool.pipeline.onConflict != .replace else { return }
        for intent in made.reversed() {
            let above = intent.target.removingLastComponent()
            guard case .open(let folder) = try open.look(above) else { continue }
            if copied.contains(intent.source) {
                try takeBackCopy(intent, in: folder, of: job)
                copied.remove(intent.source)
            } else if try isThere(intent, in: folder) {
                try NoReplace.rename(Spot(intent.target.lastEntry, in: folder), to: Spot(intent.source))
            }
            folders.insert(above)
        }
    }

    /// Removes the source of a move that was made by copying. A folder gets a hidden name first: taken apart file by
    /// file, it would look to a later run like something that is still to be moved.
    func removeCopied(_ source: FilePath) throws(IOError) {
        guard Folder.kind(of: source) == .folder else { return try Folder.remove(source) }
        let gone = source.removingLastComponent().appending(".dropmill-gone")
        try Folder.remove(gone)
        try NoReplace.rename(source, to: gone)
        do throws(IOError) {
            try Folder.remove(gone)
        } catch {
            // It has the name of what goes with the job's folder, and is tried again then.
        }
    }
}

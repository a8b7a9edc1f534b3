import Glibc
import Journal
import PipelineKit
import SystemPackage

extension Spool {
    /// What the pipeline asks for.
    package var diskSync: DiskSync { DiskSync(pipeline.durability) }

    /// What was decided for a placement.
    struct Decision {
        /// The moves to be made, companions first: whoever sees a failed original finds the reason beside it.
        var intents: [Intent] = []
        /// What has to be on disk before any of them is made.
        var unsynced = DiskSync.Unsynced()
        /// What there is to be said about the name: a sentence.
        var note: String?
    }

    /// Decides on the names of a placement and writes what goes beside it. Nil where its source is gone. The names that
    /// are kept for it are added to `reserved`, also where something throws afterwards.
    func intend(
        _ placement: Placement, number: Int, of job: Job, _ names: NameChooser, _ open: inout OpenFolders,
        reserved: inout [FilePath]
    ) throws(IOError) -> Decision? {
        var found: FileIdentity.Found?
        if let source = placement.source {
            found = try FileIdentity.examine(source)
            if found == nil { return nil }
        }
        var placement = try placement.inSubfolders(&open)
        // What was dropped as a file may be a folder by now: exchanged just before it was claimed.
        if let found { placement.isFolder = found.isFolder }
        let dress = Dress(placement, found, of: job, pipeline.rights)
        if let source = placement.source { try dress.put(on: source) }
        if placement.source == nil { try Folder.make(job.folder, mode: 0o700) }
        var folder: HeldFolder?
        if case .open(let found) = try open.look(placement.folder) { folder = found }
        let (name, targets) = try names.choose(placement, in: folder, of: job)
        reserved += targets
        var decision = Decision()
        for (index, companion) in placement.companions.enumerated() {
            let source = job.folder.appending(".beside-\(number + 1)-\(index + 1)")
            let file = try Self.makeAnew(source)
            try file.write(companion.contents(for: name))
            try dress.put(onCompanion: file)
            let status = try file.status()
            try file.close()
            decision.intents.append(
                Intent(role: .companion, source: source, target: targets[index + 1], identity: FileIdentity(status)))
        }
        if let marker = placement.marker?.source, let identity = try FileIdentity.find(marker),
            let target = targets.last
        {
            decision.intents.append(Intent(role: .companion, source: marker, target: target, identity: identity))
        }
        if diskSync.isFull { decision.unsynced.files = decision.intents.map(\.source) }
        if let source = placement.source, let found {
            decision.intents.append(
                Intent(role: placement.role, source: source, target: targets[0], identity: found.identity))
            if diskSync.isFull { try Self.note(source, of: placement, in: &decision.unsynced) }
            if name != placement.name { decision.note = note(on: placement, in: folder, source, named: name) }
        }
        return decision
    }

    /// What failed may be its sender's again, or what the daemon dies of at a look, and is not looked into; nor is a
    /// tree with a folder that is closed to us.
    private static func note(
        _ source: FilePath, of placement: Placement, in unsynced: inout DiskSync.Unsynced
    ) throws(IOError) {
        guard !placement.isFailure else {
            unsynced.needsWhole = true
            return
        }
        do throws(IOError) {
            unsynced.files += placement.isFolder ? try everything(in: source) : [source]
        } catch {
            guard error.errno.trouble(with: .drop) != .pauses else { throw error }
            unsynced.needsWhole = true
        }
    }

    /// Why a thing did not get its own name. One with the same content is kept as well: only people know whether it was
    /// sent twice by mistake.
    private func note(
        on placement: Placement, in folder: HeldFolder?, _ source: FilePath, named name: FileName
    ) -> String {
        var note = "'\(placement.name)' was taken: named '\(name)'"
        do throws(IOError) {
            if let folder, try Self.isCopy(FilePath().appending(placement.name), in: folder, of: source) {
                note += ", though the content is the same"
            }
        } catch {
            // Somebody's file that we may not read says nothing.
        }
        return note
    }

    /// Makes the moves of one placement and returns those that are made; nil where a name turned out to be taken: then
    /// none is.
    ///
    /// `isReplay`: an earlier attempt, perhaps of an earlier run, may have made some of them. A move was made if its
    /// source is gone: nobody else takes things from a job's folder, and who fetched the target meanwhile did what it
    /// was published for. One that was linked, and is there under both names, is finished.
    ///
    /// `isFailure`: whether the original, where it is copied, is given back to its sender.
    func carryOut(
        _ intents: [Intent], of job: Job, isReplay: Bool, isFailure: Bool, _ open: inout OpenFolders,
        _ effects: inout SettlementEffects
    ) throws(IOError) -> [Intent]? {
        var made: [Intent] = []
        for intent in intents {
            let above = intent.target.removingLastComponent()
            let found = try open.look(above)
            if case .open = found { effects.folders.insert(above) }
            if isReplay, try FileIdentity.find(intent.source) == nil {
                // In this order: what comes back in between does no harm.
                guard work.isInPlace else { throw IOError("move", intent.source, .noSuchFileOrDirectory) }
                if case .open(let folder) = found, try isThere(intent, in: folder) { made.append(intent) }
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
                try takeBack(made, of: job, &open, &effects)
                throw error
            }
            switch move {
            case .taken:
                try takeBack(made, of: job, &open, &effects)
                return nil
            case .renamed: break
            case .copied: effects.copied.insert(intent.source)
            }
            made.append(intent)
        }
        return made
    }

    /// Makes a folder that things go into, and notes those above it that got a new entry, from this batch or from one
    /// that has not brought it to the disk yet. What is configured as it is (processed, failed) is never made here: it
    /// may be a mount that is away. Where something that is not ours is in the way, the move is told.
    func makeFolder(
        _ path: FilePath, for role: Intent.Role = .output, _ open: inout OpenFolders,
        _ effects: inout SettlementEffects
    ) throws(IOError) {
        // Something went into it in this batch already.
        if effects.folders.contains(path) { return }
        if role == .original, case .missing = try open.look(open.root(of: path)) { return }
        guard try open.make(path, noting: made.note) != nil else { return }
        for folder in made.leading(to: path) {
            effects.made.append(folder)
            effects.folders.insert(folder.removingLastComponent())
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

    /// What is said of a job's folder that was set aside.
    static func strayWarning(of drop: FileName, _ folder: FilePath) -> String {
        "in the folder of the job of '\(drop)' there was something that is not Dropmill's: a program must have put it "
            + "there. It is kept in '\(folder.text)'; see whether you need it, and remove it"
    }

    /// Every file and folder that has to reach the disk for a tree to be whole.
    static func everything(in path: FilePath) throws(IOError) -> [FilePath] {
        guard Folder.kind(of: path) == .folder else { return [path] }
        let tree = try FileTree.list(path)
        return tree.files.map { path.pushing($0.relative) } + tree.folders.map { path.pushing($0) } + [path]
    }

    /// How a move was made.
    private enum Move {
        case renamed
        /// The source is still there; it may go once the copy's name is on disk.
        case copied
        /// Not at all: the name is taken.
        case taken
    }

    private func move(
        _ intent: Intent, to folder: HeldFolder, of job: Job, isReplay: Bool, givesBack: Bool
    ) throws(IOError) -> Move {
        let (source, target) = (Spot(intent.source), Spot(intent.target.lastEntry, in: folder))
        do throws(IOError) {
            try NoReplace.rename(source, to: target, known: intent.identity)
            return .renamed
        } catch {
            switch error.errno {
            case .fileExists where pipeline.onConflict == .replace && Self.areAlike(source, target):
                try NoReplace.replace(target, with: source)
                return .renamed
            // The source is still there, so what has the name is somebody else's, be it the same content.
            case .fileExists: return .taken
            case .improperLink:
                return try moveAcross(intent, to: folder, of: job, isReplay: isReplay, givesBack: givesBack)
            default: throw error
            }
        }
    }

    /// To another file system, or another mount: a copy under a hidden name of this job, compared with its source and
    /// brought to the disk, then renamed.
    private func moveAcross(
        _ intent: Intent, to folder: HeldFolder, of job: Job, isReplay: Bool, givesBack: Bool
    ) throws(IOError) -> Move {
        let name = Self.partialName(job)
        let (partial, target) = (Spot(name, in: folder), Spot(intent.target.lastEntry, in: folder))
        let mayReplace = pipeline.onConflict == .replace && Self.areAlike(Spot(intent.source), target)
        if !mayReplace, target.kind != nil {
            guard isReplay else { return .taken }
            return try Self.isCopy(intent.target.lastEntry, in: folder, of: intent.source) ? .copied : .taken
        }
        do throws(IOError) {
            try folder.folder.remove(name)
            // Made before anything is written, so that it is told of all that goes wrong.
            let whole = try FileSystemSync(of: folder.path)
            // Ours to the end: whoever is given it could keep us from comparing it, by a lease.
            let from = try Folder.holding(intent.source)
            let entry = intent.source.lastEntry
            try Transfer.copy(entry, in: from, to: name, in: folder.folder, closed: true)
            try diskSync.sync(files: try Self.everything(in: partial.path), by: whole)
            guard try Self.isCopy(name, in: folder, of: intent.source) else {
                // What is still its sender's may have been changed meanwhile.
                let isOurs = try from.status(of: entry)?.st_uid == geteuid()
                throw isOurs
                    ? IOError("verify the copy", partial.path, .ioError)
                    : IOError("copy", intent.source, .resourceTemporarilyUnavailable)
            }
            try Transfer.finish(name, in: folder.folder, like: entry, in: from, syncing: diskSync.isFull)
            if givesBack { try Self.giveBack(name, of: job, in: folder.folder) }
            do throws(IOError) {
                try NoReplace.rename(partial, to: target)
            } catch {
                guard error.errno == .fileExists else { throw error }
                if mayReplace { try NoReplace.replace(target, with: partial) }
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
            // Others need not wait for room that there will never be.
            throw IOError("copy", intent.target, .fileTooLarge)
        }
        return .copied
    }

    private static func isCopy(_ copy: FilePath, in folder: HeldFolder, of source: FilePath) throws(IOError) -> Bool {
        try Transfer.isCopy(copy, in: folder.folder, of: source.lastEntry, in: try Folder.holding(source))
    }

    /// What a file, or all that a folder holds, takes on the disk.
    private static func size(of path: FilePath) throws(IOError) -> Int64 {
        var size: Int64 = 0
        for file in try everything(in: path) {
            var status = stat()
            guard file.withPlatformString({ lstat($0, &status) }) == 0 else { continue }
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
    private func isThere(_ intent: Intent, in folder: HeldFolder) throws(IOError) -> Bool {
        guard let there = try Spot(intent.target.lastEntry, in: folder).statusNow else { return false }
        let device = try folder.folder.file.status().st_dev
        return there.st_ino == intent.identity.inode && device == Spot(work.active).status?.st_dev
    }

    /// Undoes moves: of companions whose thing itself could not have its name, and of a job that fails after all. What
    /// somebody fetched meanwhile, or put into its place, stays.
    ///
    /// Not where the new replaces the old: the old is gone, so there would be nothing left, and what is sent again
    /// replaces it once more.
    func takeBack(
        _ made: [Intent], of job: Job, _ open: inout OpenFolders, _ effects: inout SettlementEffects
    ) throws(IOError) {
        guard pipeline.onConflict != .replace else { return }
        for intent in made.reversed() {
            let above = intent.target.removingLastComponent()
            guard case .open(let folder) = try open.look(above) else { continue }
            if effects.copied.contains(intent.source) {
                try takeBackCopy(intent, in: folder, of: job)
                effects.copied.remove(intent.source)
            } else if try isThere(intent, in: folder) {
                try NoReplace.rename(Spot(intent.target.lastEntry, in: folder), to: Spot(intent.source))
            }
            effects.folders.insert(above)
        }
    }

    /// Only what is still the copy that it was. It gets a hidden name first: nobody is to see a folder fall apart.
    private func takeBackCopy(_ intent: Intent, in folder: HeldFolder, of job: Job) throws(IOError) {
        let (name, gone) = (intent.target.lastEntry, Self.partialName(job))
        do throws(IOError) {
            guard try Spot(name, in: folder).statusNow != nil, try Self.isCopy(name, in: folder, of: intent.source)
            else {
                return
            }
        } catch {
            // Somebody's file that we may not read is not ours.
            guard error.errno.trouble(with: .drop) == .pauses else { return }
            throw error
        }
        try folder.folder.remove(gone)
        try NoReplace.rename(Spot(name, in: folder), to: Spot(gone, in: folder))
        try folder.folder.remove(gone)
    }

    private static func partialName(_ job: Job) -> FilePath { FilePath(".dropmill-\(job.id.text).partial") }
}

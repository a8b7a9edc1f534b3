import Glibc
import PipelineKit
package import SystemPackage

extension Spool {
    /// What the pipeline asks for.
    package var durability: Durability { Durability(pipeline.durability) }

    /// What was decided for a placement.
    struct Decision {
        /// The moves to be made, companions first: whoever sees a failed original finds the reason beside it.
        var intents: [Intent] = []
        /// What has to be on disk before any of them is made.
        var unsynced = Durability.Unsynced()
        /// What there is to be said about the name: a sentence.
        var note: String?
    }

    /// Decides on the names of a placement and writes what goes beside it. Nil where its source is gone. The names that
    /// are kept for it are added to `reserved`, also where something throws afterwards.
    func intend(
        _ placement: Placement, number: Int, of job: Job, _ names: NameChooser, reserved: inout [FilePath]
    ) throws(IOError) -> Decision? {
        var found: FileIdentity.Found?
        if let source = placement.source {
            found = try FileIdentity.examine(source)
            if found == nil { return nil }
        }
        var placement = placement.inSubfolders()
        // What was dropped as a file may be a folder by now: exchanged just before it was claimed.
        if let found { placement.isFolder = found.isFolder }
        let dress = Dress(placement, found, of: job, pipeline.rights)
        if let source = placement.source { try dress.put(on: source) }
        if placement.source == nil { try Folder.make(job.folder, mode: 0o700) }
        let (name, targets) = try names.choose(placement, of: job)
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
        if durability.isFull { decision.unsynced.files = decision.intents.map(\.source) }
        if let source = placement.source, let found {
            decision.intents.append(
                Intent(role: placement.role, source: source, target: targets[0], identity: found.identity))
            if durability.isFull { try Self.note(source, of: placement, in: &decision.unsynced) }
            if name != placement.name { decision.note = note(on: placement, source, named: name) }
        }
        return decision
    }

    /// What failed may be its sender's again, and is not looked into; nor is a tree with a folder that is closed to us.
    private static func note(
        _ source: FilePath, of placement: Placement, in unsynced: inout Durability.Unsynced
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
    private func note(on placement: Placement, _ source: FilePath, named name: FileName) -> String {
        let taken = placement.folder.appending(placement.name)
        var note = "'\(placement.name)' was taken: named '\(name)'"
        do throws(IOError) {
            if try Self.isCopy(taken, of: source) { note += ", though the content is the same" }
        } catch {
            // Somebody's file that we may not read says nothing.
        }
        return note
    }

    /// Makes the moves of one placement and returns those that are made; nil where a name turned out to be taken: then
    /// none is.
    ///
    /// `isReplay`: an earlier attempt, perhaps of an earlier run, may have made some of them. A move was made if its
    /// target is there with the identity that was written down, or if its source is gone: nobody else takes things from
    /// a job's folder, and who fetched the target meanwhile did what it was published for.
    func carryOut(
        _ intents: [Intent], of job: Job, isReplay: Bool, _ effects: inout SettlementEffects
    ) throws(IOError) -> [Intent]? {
        var made: [Intent] = []
        for intent in intents {
            effects.folders.insert(intent.target.removingLastComponent())
            if isReplay, try FileIdentity.find(intent.target) == intent.identity {
                made.append(intent)
                continue
            }
            if isReplay, try FileIdentity.find(intent.source) == nil {
                // In this order: what comes back in between does no harm.
                guard work.isInPlace else { throw IOError("move", intent.source, .noSuchFileOrDirectory) }
                continue
            }
            let move: Move
            do throws(IOError) {
                move = try self.move(intent, of: job, isReplay: isReplay)
            } catch {
                try takeBack(made, &effects)
                throw error
            }
            switch move {
            case .taken:
                try takeBack(made, &effects)
                return nil
            case .renamed: break
            case .copied: effects.copied.append(intent.source)
            }
            made.append(intent)
        }
        return made
    }

    /// Makes a folder that outputs go into, and notes those above it that got a new entry, from this batch or from one
    /// that has not brought it to the disk yet. What is configured as it is (processed, failed) is never made here: it
    /// may be a mount that is away.
    func makeFolder(_ path: FilePath, _ effects: inout SettlementEffects) throws(IOError) {
        // Something went into it in this batch already.
        if effects.folders.contains(path) { return }
        var missing: [FilePath] = []
        var next = path
        while Folder.kind(of: next, followingLinks: true) == nil, next != next.removingLastComponent() {
            missing.append(next)
            next = next.removingLastComponent()
        }
        if !missing.isEmpty {
            made.note(missing)
            // What is configured is ours alone, what lies below it as the umask says.
            let own = targets.filter { path.starts(with: $0) }
            for folder in own where missing.contains(folder) { try Folder.makeOwn(folder) }
            try Folder.make(path)
        }
        for folder in made.leading(to: path) {
            effects.made.append(folder)
            effects.folders.insert(folder.removingLastComponent())
        }
    }

    /// Makes the folders below a configured one that an original goes into; the configured one itself is not made.
    /// False where a file has taken the name of one of them since that was chosen.
    func makeSubfolders(
        of placement: Placement, for target: FilePath?, _ effects: inout SettlementEffects
    ) throws(IOError) -> Bool {
        guard let folder = target?.removingLastComponent(), folder != placement.folder,
            Folder.kind(of: placement.folder, followingLinks: true) == .folder
        else { return true }
        do throws(IOError) {
            try makeFolder(folder, &effects)
            return Folder.kind(of: folder, followingLinks: true) == .folder
        } catch {
            guard error.errno == .notDirectory else { throw error }
            return false
        }
    }

    /// Removes the source of a move that was made by copying. A folder gets a hidden name first: taken apart file by
    /// file, it would look to a later run like something that is still to be moved.
    func removeCopied(_ source: FilePath) throws(IOError) {
        guard Folder.kind(of: source) == .folder else { return try Folder.remove(source) }
        let gone = source.removingLastComponent().appending(".dropmill-gone")
        try Folder.remove(gone)
        try NoReplace.rename(source, to: gone)
        try Folder.remove(gone)
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

    private func move(_ intent: Intent, of job: Job, isReplay: Bool) throws(IOError) -> Move {
        do throws(IOError) {
            try NoReplace.rename(intent.source, to: intent.target)
            return .renamed
        } catch {
            switch error.errno {
            case .fileExists where pipeline.onConflict == .replace && Self.areAlike(intent.source, intent.target):
                try NoReplace.replace(intent.target, with: intent.source)
                return .renamed
            // The source is still there, so what has the name is somebody else's, be it the same content.
            case .fileExists: return .taken
            case .improperLink: return try moveAcross(intent, of: job, isReplay: isReplay)
            default: throw error
            }
        }
    }

    /// To another file system, or another mount: a copy under a hidden name of this job, compared with its source and
    /// brought to the disk, then renamed.
    private func moveAcross(_ intent: Intent, of job: Job, isReplay: Bool) throws(IOError) -> Move {
        let folder = intent.target.removingLastComponent()
        let partial = folder.appending(".dropmill-\(job.id.text).partial")
        let mayReplace = pipeline.onConflict == .replace && Self.areAlike(intent.source, intent.target)
        if !mayReplace, Folder.kind(of: intent.target) != nil {
            guard isReplay else { return .taken }
            return try Self.isCopy(intent.target, of: intent.source) ? .copied : .taken
        }
        do throws(IOError) {
            try Folder.remove(partial)
            // Made before anything is written, so that it is told of all that goes wrong.
            let whole = try FileSystemSync(of: folder)
            try Transfer.copy(
                intent.source.lastEntry, in: try Folder.holding(intent.source), to: partial.lastEntry,
                in: try Folder.holding(partial))
            try durability.sync(files: try Self.everything(in: partial), by: whole)
            guard try Self.isCopy(partial, of: intent.source) else {
                throw IOError("verify the copy", partial, .ioError)
            }
            do throws(IOError) {
                try NoReplace.rename(partial, to: intent.target)
            } catch {
                guard error.errno == .fileExists else { throw error }
                if mayReplace { try NoReplace.replace(intent.target, with: partial) }
                try Folder.remove(partial)
                return mayReplace ? .copied : .taken
            }
        } catch {
            do throws(IOError) {
                try Folder.remove(partial)
            } catch {
                // The first error tells more; what is left is hidden, bears the job's id and goes at the next attempt.
            }
            throw error
        }
        return .copied
    }

    private static func isCopy(_ copy: FilePath, of source: FilePath) throws(IOError) -> Bool {
        try Transfer.isCopy(
            copy.lastEntry, in: try Folder.holding(copy), of: source.lastEntry, in: try Folder.holding(source))
    }

    /// Whether both are folders, or neither is.
    private static func areAlike(_ one: FilePath, _ other: FilePath) -> Bool {
        (Folder.kind(of: one) == .folder) == (Folder.kind(of: other) == .folder)
    }

    /// Undoes moves: of companions whose thing itself could not have its name, and of a job that fails after all. What
    /// somebody fetched meanwhile, or put into its place, stays.
    ///
    /// Not where the new replaces the old: the old is gone, so there would be nothing left, and what is sent again
    /// replaces it once more.
    func takeBack(_ made: [Intent], _ effects: inout SettlementEffects) throws(IOError) {
        guard pipeline.onConflict != .replace else { return }
        for intent in made.reversed() {
            let isCopied = effects.copied.contains(intent.source)
            if isCopied {
                try Folder.remove(intent.target)
                effects.copied.removeAll { $0 == intent.source }
            } else if try FileIdentity.find(intent.target) == intent.identity {
                try NoReplace.rename(intent.target, to: intent.source)
            }
            effects.folders.insert(intent.target.removingLastComponent())
        }
    }
}

/// What the moves of a batch left to be done.
package struct SettlementEffects: Sendable {
    /// Folders whose entries changed, to be brought to the disk.
    var folders: Set<FilePath> = []
    /// Sources whose copies are in their places, to be removed once these are on disk.
    var copied: [FilePath] = []
    /// Folders that were made just now, by this batch or another, and are on the disk once those above them are.
    var made: [FilePath] = []
}

extension FileIdentity {
    init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The identity of what is at a path, a link not followed; nil where there is nothing.
    package static func of(_ path: FilePath) -> FileIdentity? {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0 else { return nil }
        return FileIdentity(status)
    }

    /// The same, but what cannot be asked (an I/O error, a stale mount) is an error and not an absence.
    static func find(_ path: FilePath) throws(IOError) -> FileIdentity? { try examine(path)?.identity }

    /// What is at a path.
    typealias Found = (identity: FileIdentity, isFolder: Bool, status: stat)

    /// The same, and whether it is a folder.
    static func examine(_ path: FilePath) throws(IOError) -> Found? {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) != 0 else {
            return (FileIdentity(status), FileKind(mode: status.st_mode) == .folder, status)
        }
        let reason = Errno.last
        guard reason == .noSuchFileOrDirectory || reason == .notDirectory else {
            throw IOError("examine", path, reason)
        }
        return nil
    }
}

extension StageFailure {
    /// Somebody took a file from the work folder.
    static func missing(_ path: FilePath, of job: Job) -> StageFailure {
        .file(
            "settle.missing", "'\(path.text)' is gone: somebody removed it from the work folder while its job ran.",
            remedy: "Drop '\(job.drop.name)' again, and let nothing but Dropmill touch its work folder. What "
                + "a program put there in its place is kept in 'astray' in the work folder.")
    }

    /// The work folder cannot be reached: what was claimed is there, but cannot be seen.
    static func workAway(_ spool: Spool) -> StageFailure {
        StageFailure(
            .environment, code: "work.gone", summary: "The work folder '\(spool.work.path.text)' is gone.",
            remedy: "Mount its file system again, or start Dropmill again; work goes on by itself.")
    }

    /// What went wrong while a job was settled: a taken name is the drop's trouble, all else as the kernel says.
    static func settling(_ error: IOError) -> StageFailure {
        guard error.errno == .fileExists else {
            var failure = StageFailure(error)
            // Mounts that came or went under us are no fault of the drop.
            if error.errno == .improperLink { failure.class = .environment }
            return failure
        }
        return .file(
            "conflict.taken", "'\(error.path.text)' exists already.",
            remedy: "Move it away and drop the file again, or set `on_conflict: rename`.")
    }
}

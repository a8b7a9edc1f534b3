import Glibc
import PipelineKit
import SystemPackage

extension Spool {
    /// Gives a placement its final name and returns the paths: the thing itself, then its companions. `touched` gathers
    /// the folders whose entries changed.
    ///
    /// Companions go first: whoever sees a failed original finds the reason beside it. Where the thing's own name turns
    /// out to be taken, the companion is taken back and the next name is tried, so that the two always belong together.
    func publish(_ placement: Placement, of job: Job, touched: inout Set<FilePath>) throws(StageFailure) -> [FilePath] {
        do throws(IOError) {
            if placement.makesFolder { try makeFolder(placement.folder, touched: &touched) }
            var attempt = 1
            while true {
                let name = placement.candidate(attempt)
                if let paths = try tryName(name, placement, job, isFirst: attempt == 1) {
                    touched.insert(placement.folder)
                    return paths
                }
                if placement.onConflict == .fail {
                    throw IOError("publish", placement.folder.appending(name), .fileExists)
                }
                attempt += 1
            }
        } catch {
            throw .settling(error)
        }
    }

    /// Where a companion waits in the job's folder until it is published.
    func companionPath(_ index: Int, of job: Job) -> FilePath { job.folder.appending(".beside-\(index + 1)") }

    /// Writes the companions for a name, in the job's folder; returns their paths. The side file of the first choice is
    /// written before a batch is synced; others are synced as they are written.
    func writeCompanions(_ placement: Placement, name: FileName, of job: Job, sync: Bool) throws(IOError) -> [FilePath]
    {
        var paths: [FilePath] = []
        for (index, companion) in placement.companions.enumerated() {
            let path = companionPath(index, of: job)
            let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o666)
            try file.write(companion.contents(for: name))
            if sync, durability.isFull { try file.sync() }
            try file.close()
            paths.append(path)
        }
        return paths
    }

    var durability: Durability { Durability(pipeline.durability) }

    /// Tries one name; nil where it, or that of a companion, is taken and the policy lets others be tried.
    private func tryName(
        _ name: FileName, _ placement: Placement, _ job: Job, isFirst: Bool
    ) throws(IOError) -> [FilePath]? {
        let target = placement.folder.appending(name)
        if !isFirst, !placement.companions.isEmpty {
            // Costly enough not to be done for every taken name.
            if Folder.kind(of: target) != nil { return nil }
            _ = try writeCompanions(placement, name: name, of: job, sync: true)
        }
        var published: [FilePath] = []
        for (index, companion) in placement.companions.enumerated() {
            let path = placement.folder.appending(name.appending(companion.suffix, unique: job.id.text))
            let source = companionPath(index, of: job)
            guard try move(source, to: path, placement.onConflict, job) else {
                try takeBack(published, job)
                return nil
            }
            published.append(path)
        }
        let isPlaced: Bool
        do throws(IOError) {
            guard let source = placement.source else { return published }
            isPlaced = try move(source, to: target, placement.onConflict, job)
        } catch {
            try takeBack(published, job)
            throw error
        }
        guard isPlaced else {
            try takeBack(published, job)
            return nil
        }
        return [target] + published
    }

    /// Companions that were published for a name that the thing itself could not have.
    private func takeBack(_ published: [FilePath], _ job: Job) throws(IOError) {
        for (index, path) in published.enumerated() {
            let home = companionPath(index, of: job)
            let moved = path.withPlatformString { from in home.withPlatformString { rename(from, $0) } }
            if moved != 0 { try Folder.remove(path) }
        }
    }

    /// Moves to a name; false where it is taken and must not be replaced.
    private func move(
        _ source: FilePath, to target: FilePath, _ policy: Pipeline.ConflictPolicy, _ job: Job
    ) throws(IOError) -> Bool {
        do throws(IOError) {
            try NoReplace.rename(source, to: target)
            return true
        } catch {
            switch error.errno {
            case .fileExists where policy == .replace:
                try NoReplace.exchange(source, with: target)
                return true
            case .fileExists: return false
            case .improperLink: return try moveAcross(source, to: target, policy, job)
            default: throw error
            }
        }
    }

    /// To another file system, or another mount: a copy under a hidden name of this job, brought to the disk, then
    /// renamed; the source goes only when the folder is on disk, with the job's own folder.
    private func moveAcross(
        _ source: FilePath, to target: FilePath, _ policy: Pipeline.ConflictPolicy, _ job: Job
    ) throws(IOError) -> Bool {
        let folder = target.removingLastComponent()
        let partial = folder.appending(".dropmill-\(job.id.text).partial")
        if policy != .replace, Folder.kind(of: target) != nil { return false }
        do throws(IOError) {
            try Folder.remove(partial)
            try Transfer.copy(source, to: partial)
            try durability.sync(files: try Self.everything(in: partial), below: folder)
            do throws(IOError) {
                try NoReplace.rename(partial, to: target)
            } catch {
                guard error.errno == .fileExists else { throw error }
                guard policy == .replace else {
                    try Folder.remove(partial)
                    return false
                }
                try NoReplace.exchange(partial, with: target)
                try Folder.remove(partial)
            }
        } catch {
            do throws(IOError) {
                try Folder.remove(partial)
            } catch {
                // The first error tells more; what is left is hidden, bears the job's id and goes at the next attempt.
            }
            throw error
        }
        try durability.sync(folders: [folder])
        try Folder.remove(source)
        return true
    }

    /// Every file and folder that has to reach the disk for a tree to be whole.
    static func everything(in path: FilePath) throws(IOError) -> [FilePath] {
        guard Folder.kind(of: path) == .folder else { return [path] }
        let tree = try FileTree.list(path)
        return tree.files.map { path.pushing($0.relative) } + tree.folders.map { path.pushing($0) } + [path]
    }

    /// Makes a folder and notes those above it that got a new entry.
    private func makeFolder(_ path: FilePath, touched: inout Set<FilePath>) throws(IOError) {
        var missing: [FilePath] = []
        var next = path
        while Folder.kind(of: next, followingLinks: true) == nil, next != next.removingLastComponent() {
            missing.append(next)
            next = next.removingLastComponent()
        }
        guard !missing.isEmpty else { return }
        try Folder.make(path)
        for folder in missing { touched.insert(folder.removingLastComponent()) }
    }
}

extension StageFailure {
    /// Somebody took a file from the work folder.
    static func missing(_ path: FilePath, of job: Job) -> StageFailure {
        .file(
            "settle.missing", "'\(path.text)' is gone: somebody removed it from the work folder while its job ran.",
            remedy: "Drop '\(job.drop.name)' again, and let nothing but Dropmill touch its work folder.")
    }

    /// What went wrong while a job was settled: a taken name is the drop's trouble, all else as the kernel says.
    static func settling(_ error: IOError) -> StageFailure {
        guard error.errno == .fileExists else { return StageFailure(error) }
        return .file(
            "conflict.taken", "'\(error.path.text)' exists already.",
            remedy: "Move it away and drop the file again, or set `on_conflict: rename`.")
    }
}

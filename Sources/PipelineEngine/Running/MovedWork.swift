import Glibc
import PipelineKit
import SystemPackage

/// Takes jobs over from a work folder that the pipeline had in an earlier run: its inbox was moved, or `work:` was set,
/// or a file system was mounted there.
struct MovedWork {
    /// What a look at an earlier place came to.
    enum Outcome {
        /// Whatever was there is here now, so many jobs.
        case taken(Int)
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

    /// Takes over what is in another one. A job whose folder could not be moved stays there whole.
    func take(from place: FilePath) -> Outcome {
        let active = place.appending("active")
        guard Folder.kind(of: active) == .folder else { return .left("it is not there") }
        do throws(EngineError) {
            guard let status = Spot(active).status, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
                return .left("it is not \(AccountName.user(geteuid()))'s alone")
            }
            let lock = try FolderLock(place, describedAs: "the work folder")
            defer { lock.release() }
            // Another host's daemon may have gone on there, and have its jobs at work.
            let owner = try WorkOwner(of: place, of: pipeline, isShared: FileSystemKind.of(place) != .local)
            defer { owner.release() }
            return take(all: active)
        } catch {
            return .left(error.message)
        }
    }

    private func take(all active: FilePath) -> Outcome {
        do throws(IOError) {
            let folder = try Folder.open(active)
            var count = 0
            for name in try folder.names() where JobID(name.text) != nil {
                try take(name, in: folder, at: active)
                count += 1
            }
            // Empty by now; with anything that is somebody's it stays.
            _ = active.withPlatformString { rmdir($0) }
            return .taken(count)
        } catch {
            return .left("\(error)")
        }
    }

    /// By a rename; where that cannot reach by a copy, which gets its name once it is on the disk.
    private func take(_ name: FileName, in folder: borrowing Folder, at active: FilePath) throws(IOError) {
        let (source, target) = (active.appending(name), work.active.appending(name))
        do throws(IOError) {
            try NoReplace.rename(source, to: target)
            return
        } catch {
            guard error.errno == .improperLink else { throw error }
        }
        // A start that was broken off may have got as far as that: what has the name is whole, and nothing has begun
        // with it.
        if Folder.kind(of: target) == nil {
            let copy = FilePath(WorkFolder.takingName)
            let here = try Folder.open(work.path)
            try here.remove(copy)
            try Transfer.copy(FilePath().appending(name), in: folder, to: copy, in: here)
            try Self.keepSender(source, work.path.pushing(copy))
            try work.whole.sync()
            try NoReplace.rename(work.path.pushing(copy), to: target)
        }
        try work.whole.sync()
        try Folder.remove(source)
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
        func moved(_ path: FilePath) -> FilePath {
            var below = path
            return below.removePrefix(place) ? work.pushing(below) : path
        }
        var record = self
        record.payload?.root = moved(payload?.root ?? "")
        for index in payload?.copies.indices ?? 0..<0 {
            record.payload?.copies[index].path = moved(payload?.copies[index].path ?? "")
            record.payload?.copies[index].source = moved(payload?.copies[index].source ?? "")
        }
        for index in intents.indices {
            let source = moved(intents[index].source)
            record.intents[index].source = source
            if let identity = FileIdentity.of(source) { record.intents[index].identity = identity }
        }
        if record != self { record.history.append(Transition("moved", at: .now(), note: "from '\(place.text)'")) }
        return record
    }
}

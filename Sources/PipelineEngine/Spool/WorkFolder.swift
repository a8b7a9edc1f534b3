import CLinux
import Glibc
package import PipelineKit
package import SystemPackage

/// Where a pipeline's claimed jobs live: one folder a job below `active`, on the inbox's file system, for nobody else
/// to enter. A folder with a drop in it says that a job exists; an empty one is of a job that is over, and waits for
/// the next.
package final class WorkFolder: Sendable {
    /// The folder.
    package let path: FilePath
    /// The jobs' folders lie in it.
    package let active: FilePath
    /// Whether it was not there before: with jobs in the journal, its file system may not be mounted.
    package let isNew: Bool
    private let lock: FolderLock
    /// Which folder `active` was at the start.
    private let identity: FileIdentity?
    /// What is looked at, and what was when the daemon died.
    package let looks: FilePath
    /// Folders of jobs that are over, in which programs left what is not ours.
    package let astray: FilePath
    private let spares: SpareFolders
    /// Syncs the file system that claimed jobs are on, for two batches at a time.
    let whole: FileSystemSync

    /// Makes and locks the pipeline's work folder. The inbox must exist.
    package init(for pipeline: Pipeline) throws(EngineError) {
        do throws(IOError) {
            path = try Self.path(for: pipeline)
            active = path.appending("active")
            astray = path.appending("astray")
            looks = path.appending("looks")
            spares = SpareFolders(from: active, in: path.appending("spare"))
            try Folder.makeOwn(path.removingLastComponent())
            try Folder.make(path, mode: 0o700)
        } catch {
            throw Self.unusable(pipeline, "\(error)")
        }
        // Before anything in it is touched: it may be another process's.
        lock = try FolderLock(path, describedAs: "the work folder")
        do throws(IOError) {
            try Self.checkIsOurs(path, pipeline)
            isNew = try Folder.make(active, mode: 0o700)
            try Folder.make(spares.path, mode: 0o700)
            for folder in [path, active, spares.path] { try Self.makePrivate(folder) }
            identity = FileIdentity.of(active)
            whole = try FileSystemSync(of: active, lanes: 2)
            try spares.removeOld()
        } catch {
            lock.release()
            throw Self.unusable(pipeline, "\(error)")
        }
    }

    private static func unusable(_ pipeline: Pipeline, _ fact: String) -> EngineError {
        EngineError(
            kind: .configuration,
            message:
                "\(pipeline.source.text): \(fact); the work folder must be the Dropmill user's own, on the inbox's "
                + "file "
                + "system and mount: give that user the folder above the inbox, or set 'work:' to a folder of its own")
    }

    /// A folder that holds other things is somebody's, and not to be tidied by us.
    private static func checkIsOurs(_ path: FilePath, _ pipeline: Pipeline) throws(IOError) {
        let strangers = try Folder.names(in: path).filter { !["active", "astray", "spare", "looks"].contains($0.text) }
        guard strangers.isEmpty else {
            throw IOError("use as a work folder (it holds other things)", path, .fileExists)
        }
        guard try mount(of: path) == mount(of: pipeline.inbox) else {
            throw IOError("use as a work folder (it is on another mount than the inbox)", path, .improperLink)
        }
    }

    /// Nobody else may get at claimed drops: a real folder of ours, closed to all others.
    private static func makePrivate(_ path: FilePath) throws(IOError) {
        let folder = try OpenFile.openFolder(path)
        let status = try folder.status()
        guard status.st_uid == geteuid() else {
            throw IOError("use as a work folder (it belongs to another user)", path, .notPermitted)
        }
        guard status.st_mode & 0o077 != 0 else { return }
        guard fchmod(folder.descriptor, 0o700) == 0 else { throw IOError("close to others", path, .last) }
    }

    /// Lets another process have it.
    package func release() { lock.release() }

    /// Whether its path still leads to it. While its file system is away, or another one lies over it, what is not
    /// found there is not gone.
    package var isInPlace: Bool { FileIdentity.of(active) == identity }

    /// A job's folder.
    package func folder(of id: JobID) -> FilePath { active.appending(id.text) }

    /// Makes a job's folder, empty: one that was used before, or a new one.
    package func makeFolder(of id: JobID) throws(IOError) -> FilePath {
        let folder = folder(of: id)
        if spares.take(as: folder) { return folder }
        guard folder.withPlatformString({ mkdir($0, 0o700) }) == 0 else {
            throw IOError("create the folder", folder, .last)
        }
        return folder
    }

    /// Removes a job's folder, or keeps it for the next job, with all that is left in it of ours: the drop, and what
    /// has hidden names. Anything else nobody but a program that `run` started can have put there, perhaps in the
    /// drop's place: it is never destroyed. The folder with it is set aside, and its new path returned.
    @discardableResult
    package func removeFolder(of id: JobID, drop: FileName? = nil) throws(IOError) -> FilePath? {
        let folder = folder(of: id)
        if folder.withPlatformString({ dm_is_empty_folder($0) }) == 1 {
            if !spares.add(id) { try Folder.remove(folder) }
            return nil
        }
        guard let names = try entries(of: folder) else { return nil }
        let isStrange = { (name: FileName) in !name.isHidden && name != drop }
        do throws(IOError) {
            for name in names where !isStrange(name) { try Folder.remove(folder.appending(name)) }
        } catch {
            // With what cannot be removed.
            guard !names.contains(where: isStrange) else { return try setAside(folder, id) }
            try Folder.remove(folder)
            return nil
        }
        if names.contains(where: isStrange) { return try setAside(folder, id) }
        if !spares.add(id) { try Folder.remove(folder) }
        return nil
    }

    /// Removes a job's folder that no drop got into, with what was noted or made in it under hidden names. False where
    /// there is something else in it after all, which is left: over a network a rename may have been made although the
    /// answer was an error, and be seen late.
    package func removeUnused(_ id: JobID) throws(IOError) -> Bool {
        let folder = folder(of: id)
        guard let names = try entries(of: folder) else { return true }
        guard names.allSatisfy(\.isHidden) else { return false }
        for name in names { try Folder.remove(folder.appending(name)) }
        if folder.withPlatformString({ rmdir($0) }) == 0 || Errno.last == .noSuchFileOrDirectory { return true }
        guard Errno.last == .directoryNotEmpty else { throw IOError("remove", folder, .last) }
        return false
    }

    /// Takes the emptied folders that no job has used again from among those of jobs.
    package func tidy() { spares.putAway() }

    /// The names in a job's folder; nil where it is gone.
    private func entries(of folder: FilePath) throws(IOError) -> [FileName]? {
        do throws(IOError) {
            return try Folder.names(in: folder)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .permissionDenied:
                // A program may have closed it to us; it is ours to open.
                guard folder.withPlatformString({ chmod($0, 0o700) }) == 0 else { throw error }
                return try Folder.names(in: folder)
            default: throw error
            }
        }
    }

    /// Sets something in a job's folder aside that cannot be removed.
    func setAside(_ relative: FilePath, of id: JobID) throws(IOError) {
        _ = try setAside(folder(of: id).pushing(relative), id)
    }

    /// Where a drop lies once its job's folder is set aside with it.
    func keptPath(of drop: FileName, of id: JobID) -> FilePath { astray.appending(id.text).appending(drop) }

    private func setAside(_ folder: FilePath, _ id: JobID) throws(IOError) -> FilePath {
        try Folder.make(astray, mode: 0o700)
        let kept = astray.appending(id.text)
        guard folder.withPlatformString({ from in kept.withPlatformString { rename(from, $0) } }) == 0 else {
            throw IOError("set aside", folder, .last)
        }
        return kept
    }

    /// Where the pipeline's work folder is, or is going to be: as configured, else beside the inbox, which must exist.
    package static func path(for pipeline: Pipeline) throws(IOError) -> FilePath {
        if let configured = pipeline.work { return configured }
        return try place(for: pipeline)
    }

    /// Beside the inbox, or inside it where the inbox is a mount point (also a bind mount of the same file system): a
    /// rename does not cross mounts.
    private static func place(for pipeline: Pipeline) throws(IOError) -> FilePath {
        let inbox = pipeline.inbox
        let above = inbox.removingLastComponent()
        let isMountPoint = try mount(of: inbox) != mount(of: above)
        return (isMountPoint ? inbox : above).appending(".dropmill").appending(pipeline.name)
    }

    /// The mount that a folder is on; where the kernel cannot say, its device.
    private static func mount(of path: FilePath) throws(IOError) -> Int64 {
        let id = path.withPlatformString { dm_mount_id($0) }
        if id >= 0 { return id }
        return Int64(bitPattern: UInt64(try OpenFile.open(path, O_RDONLY | O_DIRECTORY).status().st_dev))
    }
}

extension JobRecord {
    /// Whether its original could not be brought to `failed`: it is kept with the job's folder, which is set aside.
    func isKept(in work: WorkFolder) -> Bool { original == work.keptPath(of: drop.name, of: id) }
}

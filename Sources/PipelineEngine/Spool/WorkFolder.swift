import CLinux
package import Files
import FolderWatch
import Glibc
import Journal
package import PipelineKit
import Synchronization
package import SystemPackage

/// Where a pipeline's claimed jobs live: one folder per job below `active`, on the inbox's file system, closed to
/// others. A folder with a drop in it means that a job exists; an empty one waits for the next job (`Slots`).
package final class WorkFolder: Sendable {
    package let path: FilePath
    /// Contains the jobs' folders.
    package let active: FilePath
    /// The folder that has its name now, which may have been recreated.
    private struct Place {
        var lock: FolderLock
        /// Nil where nobody else uses it.
        var owner: WorkOwner?
        /// Which folder `active` is.
        var identity: FileIdentity?

        func release() {
            owner?.release()
            lock.release()
        }
    }

    private let place: Mutex<Place>
    /// Which folder the inbox was when the pipeline was started or changed.
    let inbox: Mutex<InboxIdentity?>
    /// What is being examined, and what was when the daemon died.
    package let looks: FilePath
    /// Folders of finished jobs in which programs left files that are not ours.
    package let astray: FilePath
    /// What could not be removed; the next start tries again.
    let trash: FilePath
    let slots: Slots
    /// Folders that may contain a drop, and the jobs that this would be.
    private let doubted = Mutex<[JobID: JobID]>([:])
    /// Syncs the file system that claimed jobs are on, for two batches at a time.
    let whole: FileSystemSync

    /// Of which process it is, where several share the journal.
    let incarnation: String?

    /// Makes and locks the pipeline's work folder, or that of one process there. The inbox must exist.
    package init(for pipeline: Pipeline, of incarnation: String? = nil) throws(FolderError) {
        self.incarnation = incarnation
        do throws(IOError) {
            path = try Self.path(for: pipeline, of: incarnation)
            if incarnation != nil { try Self.makeNodes(for: pipeline) }
        } catch {
            throw Self.unusable(pipeline, error)
        }
        active = path.appending("active")
        astray = path.appending("astray")
        looks = path.appending("looks")
        trash = path.appending("trash")
        let taken = try Self.acquire(path, active, for: pipeline, of: incarnation)
        do throws(IOError) {
            whole = try FileSystemSync(of: active, lanes: 2)
            try Self.removeSpares(path)
        } catch {
            taken.release()
            throw Self.unusable(pipeline, error)
        }
        place = Mutex(taken)
        // Until a job has a row only its folder's name keeps its id.
        slots = Slots(areKept: Self.keepsSlots(for: pipeline, isShared: incarnation != nil))
        inbox = Mutex(InboxIdentity(of: pipeline.inbox))
    }

    /// Opens the folder at the path and creates what is missing in it.
    private static func acquire(
        _ path: FilePath, _ active: FilePath, for pipeline: Pipeline, of incarnation: String?
    ) throws(FolderError) -> Place {
        do throws(IOError) {
            try Folder.makeOwn(path.removingLastComponent())
            try Folder.make(path, mode: 0o700)
            try checkIsOurs(path, pipeline)
        } catch {
            throw unusable(pipeline, error)
        }
        // Before anything in it is touched: another process may hold it.
        let lock = try FolderLock(path, describedAs: "the work folder")
        let owner =
            incarnation == nil
            ? try WorkOwner(of: path, of: pipeline.name, isShared: FileSystemKind.of(path) != .local) : nil
        do throws(IOError) {
            try Folder.make(active, mode: 0o700)
            for folder in [path, active] { try makePrivate(folder) }
            return Place(lock: lock, owner: owner, identity: FileIdentity.of(active))
        } catch {
            owner?.release()
            lock.release()
            throw unusable(pipeline, error)
        }
    }

    /// Removes the emptied folders that older versions kept elsewhere.
    private static func removeSpares(_ path: FilePath) throws(IOError) {
        let old = path.appending("spare")
        guard Folder.kind(of: old) == .folder else { return }
        for name in try Folder.names(in: old) { _ = old.appending(name).withPlatformString { rmdir($0) } }
        _ = old.withPlatformString { rmdir($0) }
    }

    /// Recreates it after it was removed: the inbox is unchanged, so the file system of both is mounted.
    /// False if that is not the case, or if nothing is missing.
    func remake(for pipeline: Pipeline) throws(FolderError) -> Bool {
        guard !isInPlace, !isLost, hasInbox(of: pipeline) else { return false }
        try OwnFolders(of: pipeline).refuseWork()
        // It is already held if only its contents were removed.
        if place.withLock({ $0.lock.holds(path) }) {
            try remakeActive(pipeline)
        } else {
            let taken = try Self.acquire(path, active, for: pipeline, of: incarnation)
            place.withLock { $0 = taken }
        }
        _ = slots.takeAll()
        return true
    }

    private func remakeActive(_ pipeline: Pipeline) throws(FolderError) {
        do throws(IOError) {
            try Folder.make(active, mode: 0o700)
            for folder in [path, active] { try Self.makePrivate(folder) }
        } catch {
            throw Self.unusable(pipeline, error)
        }
        place.withLock { $0.identity = FileIdentity.of(active) }
    }

    static func unusable(_ pipeline: Pipeline, _ error: IOError) -> FolderError {
        FolderError(
            pipeline.source.text, error,
            remedy: "the work folder must belong to Dropmill's user, on the inbox's file system and mount: give that "
                + "user the folder above the inbox, or set 'work:' to a folder that it owns")
    }

    /// A job's folder on its way here from another work folder.
    static let takingName = "taking"

    private static func isOwn(_ name: FileName) -> Bool {
        ["active", "astray", "looks", "trash", takingName, "spare"].contains(name.text) || WorkOwner.isName(name)
    }

    /// A folder with foreign contents must not be tidied. `isShared`: whether it holds those of several processes.
    static func checkIsOurs(_ path: FilePath, _ pipeline: Pipeline, isShared: Bool = false) throws(IOError) {
        // The last of them leaves it empty.
        let nodes = path.appending(nodesName)
        if !isShared, Folder.kind(of: nodes) == .folder, try !Folder.names(in: nodes).isEmpty {
            throw IOError("use as a work folder (nodes that share a journal have it: `--journal`)", path, .fileExists)
        }
        let strangers = try Folder.names(in: path).filter { !isOwn($0) && !NodeFolders.isName($0) }
        guard strangers.isEmpty, try WorkOwner.isOwn(in: path) else {
            throw IOError("use as a work folder (it holds other things)", path, .fileExists)
        }
        guard try mount(of: path) == mount(of: pipeline.inbox) else {
            throw IOError("use as a work folder (it is on another mount than the inbox)", path, .improperLink)
        }
    }

    /// No one else may reach claimed drops: a real folder of ours, closed to others.
    static func makePrivate(_ path: FilePath) throws(IOError) {
        let folder = try OpenFile.openFolder(path)
        let status = try folder.status()
        guard status.st_uid == geteuid() else {
            throw IOError("use as a work folder (it belongs to another user)", path, .notPermitted)
        }
        guard status.st_mode & 0o077 != 0 else { return }
        guard fchmod(folder.descriptor, 0o700) == 0 else { throw IOError("close to others", path, .last) }
    }

    /// Releases it for other processes.
    package func release() {
        if isInPlace { for slot in slots.takeAll() { _ = folder(slot).withPlatformString { rmdir($0) } } }
        // Others take over what it knows of drops that daemons died of.
        if let incarnation, let folders = NodeFolders(beside: self), folders.isDone(incarnation),
            Folder.kind(of: looks.appending(Self.suspectsName)) == nil
        {
            folders.remove(incarnation)
        }
        place.withLock { $0.release() }
    }

    /// Whether its path still leads to it. While its file system is away, or another one lies over it, what is not
    /// found there is not gone.
    package var isInPlace: Bool {
        let now = FileIdentity.of(active)
        return now != nil && place.withLock { now?.inode == $0.identity?.inode && $0.owner?.isLost != true }
    }

    /// Whether something that was in it is gone; nil while that cannot be told. What is not found at its path may be
    /// away with the folder, and back a moment later: it is looked for in the folder itself, wherever that is.
    func isGone(_ path: FilePath) throws(IOError) -> Bool? {
        var relative = path
        guard relative.removePrefix(self.path), !relative.isEmpty else { return nil }
        // Its file system may not answer, and others want the lock.
        let found = try place.withLock { $0.lock }.find(relative)
        return isInPlace ? found == nil : nil
    }

    /// The job folders that are not empty; none if that is unknown.
    var filled: [JobID] {
        do throws(IOError) { return try folders().filter { !isEmpty(folder($0)) } } catch { return [] }
    }

    /// The names of all job folders.
    package func folders() throws(IOError) -> [JobID] { try Folder.names(in: active).compactMap { JobID($0.text) } }

    /// A job folder by its name.
    package func folder(_ name: JobID) -> FilePath { active.appending(name.text) }

    /// A folder for a new job, empty: a free one, or a new one that bears its name.
    package func makeFolder(for id: JobID) throws(IOError) -> FilePath {
        if let slot = slots.take() { return folder(slot) }
        let folder = folder(id)
        try make(folder)
        slots.made(id)
        return folder
    }

    /// Makes a job's folder if somebody removed it while it was free; false if it is there.
    func restore(_ folder: FilePath) throws(IOError) -> Bool {
        guard Folder.kind(of: folder) == nil else { return false }
        try make(folder)
        return true
    }

    private func make(_ folder: FilePath) throws(IOError) {
        guard folder.withPlatformString({ mkdir($0, 0o700) }) != 0 else { return }
        let error = Errno.last
        // It was created anyway: no one else uses this name.
        guard isEmpty(folder) else { throw IOError("create the folder", folder, error) }
    }

    private func isEmpty(_ folder: FilePath) -> Bool { folder.withPlatformString { dm_is_empty_folder($0) } == 1 }

    /// Whether another host has taken it, having heard nothing of this one for long.
    var isLost: Bool { place.withLock { $0.owner?.isLost == true } }

    /// Empties a job's folder before its end is on record, of what is left in it under hidden names: our notes, and
    /// what stages made and nobody published. Anything else is never destroyed: what a program that `run` started put
    /// there, or a drop that is not where it was to go. The folder with it is set aside, and its new path returned.
    ///
    /// `remains`: the drop, where it is to go too.
    func empty(
        _ folder: FilePath, of id: JobID, drop: FileName? = nil, remains: Bool = false
    ) throws(IOError) -> (path: FilePath?, hasChanged: Bool) {
        if isEmpty(folder) { return (nil, false) }
        guard let names = try entries(of: folder) else {
            // What is not found in a folder that is away is not gone.
            guard try isGone(folder) == true else { throw IOError("empty", folder, .noSuchFileOrDirectory) }
            return (nil, false)
        }
        let goes = { (name: FileName) in name == drop ? remains : name.isHidden }
        var failure: IOError?
        for name in names where goes(name) {
            do throws(IOError) { try Self.remove(folder.appending(name)) } catch { failure = failure ?? error }
        }
        let isStray = !names.allSatisfy(goes)
        guard isStray || failure != nil else { return (nil, true) }
        // A sender who still has a part in it can prevent its removal, and nobody else is to wait for that.
        let aside = try Self.setAside(folder, in: isStray ? astray : trash, as: id.text)
        if let slot = folder.slot { slots.removed(slot) }
        return (isStray ? aside : nil, true)
    }

    /// The job in it is over, and on record as over: an empty one is used again.
    func free(_ folder: FilePath) {
        guard let slot = folder.slot, !slots.free(slot) else { return }
        // What is in it is found by the next start.
        _ = folder.withPlatformString { rmdir($0) }
    }

    /// Removes a job's folder that no drop got into, with what was noted in it. False where there is something else in
    /// it after all, which is left: a call may have been made although it says that it failed, and be seen late.
    package func removeUnused(_ folder: FilePath) throws(IOError) -> Bool {
        guard let names = try entries(of: folder) else { return true }
        guard names.allSatisfy(Self.isNote) else { return false }
        for name in names {
            let note = folder.appending(name)
            guard note.withPlatformString({ unlink($0) }) != 0, Errno.last != .noSuchFileOrDirectory else { continue }
            throw IOError("remove", note, .last)
        }
        return try removeEmpty(folder)
    }

    /// False if it is not empty.
    private func removeEmpty(_ folder: FilePath) throws(IOError) -> Bool {
        guard folder.withPlatformString({ rmdir($0) }) != 0, Errno.last != .noSuchFileOrDirectory else {
            if let slot = folder.slot { slots.removed(slot) }
            return true
        }
        guard Errno.last == .directoryNotEmpty else { throw IOError("remove", folder, .last) }
        return false
    }

    /// Whether it is a note that is written into a job's folder before the drop arrives.
    static func isNote(_ name: FileName) -> Bool { notes.contains(name.text) }

    private static let notes = Set([Origin.name] + Rejection.names)

    /// Marks a job's folder as in doubt: it may contain a drop.
    func doubt(_ folder: FilePath, of id: JobID) {
        if let slot = folder.slot { doubted.withLock { $0[slot] = id } }
    }

    /// Removes those that are resolved. Throws for those that are not. `aside`: the new places of folders that
    /// contain something, but no drop.
    func resolveDoubts(of pipeline: Pipeline) throws(IOError) -> (jobs: [Job], aside: [FilePath]) {
        var jobs: [Job] = []
        var aside: [FilePath] = []
        for (slot, id) in doubted.withLock({ $0.sorted { $0.value < $1.value } }) {
            let folder = folder(slot)
            if try !removeUnused(folder) {
                if let job = try job(in: folder, as: id, of: pipeline) {
                    jobs.append(job)
                } else {
                    aside.append(try setAside(folder, as: id))
                }
            }
            doubted.withLock { $0[slot] = nil }
        }
        return (jobs, aside)
    }

    /// A job that is known only by its folder; nil if it contains no drop. Throws if that is unknown.
    func job(in folder: FilePath, as id: JobID, of pipeline: Pipeline) throws(IOError) -> Job? {
        guard let drop = try entries(of: folder)?.first(where: { !$0.isHidden }) else { return nil }
        // It was claimed by the rule of that time, so what it is decides.
        let isFolder = Folder.kind(of: folder.appending(drop)) == .folder
        let opened = try OpenFile.openFolder(folder)
        let sample = try Sample.examine(drop, in: opened, unit: isFolder ? .folder : .file)
        let fingerprint: Fingerprint
        switch sample {
        case .file(let found, _): fingerprint = found
        case .refused: return nil
        case .gone: throw IOError("examine", folder.appending(drop), .noSuchFileOrDirectory)
        case .blocked(let errno, _): throw IOError("examine", folder.appending(drop), errno)
        }
        let job = Job(
            id: id, pipeline: pipeline.name,
            drop: Drop(
                name: drop, folders: try Origin.of(folder).names,
                // A folder's size is found when it is examined, which may take long.
                size: isFolder ? 0 : fingerprint.size, droppedAt: id.time, isFolder: isFolder),
            claimedAt: id.time, folder: folder)
        return job.with(from: pipeline.fair?.producer(of: job.drop.path) ?? Spool.producer(of: job))
    }

    /// The names in a job's folder; nil where it is gone.
    private func entries(of folder: FilePath) throws(IOError) -> [FileName]? {
        do throws(IOError) {
            return try Folder.names(in: folder)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .permissionDenied:
                // A program may have removed our permissions; we own it and can restore them.
                guard folder.withPlatformString({ chmod($0, 0o700) }) == 0 else { throw error }
                return try Folder.names(in: folder)
            default: throw error
            }
        }
    }

    /// Sets something in a job's folder aside that cannot be removed.
    func setAside(_ relative: FilePath, of job: Job) throws(IOError) {
        _ = try setAside(job.folder.pushing(relative), as: "\(job.id).rest")
    }

    /// Sets a whole job's folder aside and returns its new path.
    func setAside(_ folder: FilePath, as id: JobID) throws(IOError) -> FilePath {
        try setAside(folder, as: id.text)
    }

    private func setAside(_ path: FilePath, as name: String) throws(IOError) -> FilePath {
        try Self.setAside(path, in: astray, as: name)
    }

    static func setAside(_ path: FilePath, in astray: FilePath, as name: String) throws(IOError) -> FilePath {
        try Folder.make(astray, mode: 0o700)
        var number = 1
        while true {
            let kept = astray.appending(number == 1 ? name : "\(name).\(number)")
            do throws(IOError) {
                try NoReplace.rename(path, to: kept)
                return kept
            } catch {
                guard error.errno == .fileExists, number < 100 else { throw IOError("set aside", path, error.errno) }
                number += 1
            }
        }
    }
}

import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// The work folders of all processes that share a pipeline's journal, as one of them sees them. What another one has
/// left of a job is brought here entry by entry: one who slept can still rename out of a folder that is moved whole.
struct NodeFolders {
    /// What is in a pipeline's work folder where it is shared.
    static func isName(_ name: FileName) -> Bool {
        name.text == WorkFolder.nodesName || ShareToken.isName(name)
    }

    private let path: FilePath
    private let own: String
    private let work: WorkFolder

    /// Nil where the work folder is nobody's but its daemon's.
    init?(beside work: WorkFolder) {
        guard let incarnation = work.incarnation else { return nil }
        (path, own) = (work.path.removingLastComponent(), incarnation)
        self.work = work
    }

    /// A record whose paths lead to this process's folder instead of any other's.
    func rebased(_ record: JobRecord) -> JobRecord {
        let paths =
            record.intents.map(\.source) + [record.payload?.root].compactMap(\.self)
            + (record.inputs ?? [:]).values.map(\.root)
        var others: Set<FilePath.Component> = []
        for var below in paths where below.removePrefix(path) { others.formUnion(below.components.prefix(1)) }
        return others.reduce(record) { $0.rebased(from: path.appending($1), to: work.path) }
    }

    /// The incarnations that have a folder here, but for our own. What is not our user's is none.
    func others() throws(IOError) -> [String] {
        try Folder.names(in: path).filter { name in
            guard name.text != own, let status = FileStatus.of(path.appending(name)) else { return false }
            return FileKind(mode: status.st_mode) == .folder && status.st_uid == geteuid()
        }.map(\.text)
    }

    /// The jobs' folders of one of them, as far as they are to be seen.
    func jobs(of other: String) -> [JobID] {
        do throws(IOError) {
            return try names(in: active(other)).compactMap { JobID($0.text) }
        } catch {
            return []
        }
    }

    /// Who has a folder of each job.
    func holders(among others: [String]) -> [JobID: [String]] {
        others.reduce(into: [:]) { holders, other in
            for id in jobs(of: other) { holders[id, default: []].append(other) }
        }
    }

    func makeFolder(_ id: JobID) throws(IOError) { try Folder.make(work.folder(id), mode: 0o700) }

    private func active(_ other: String) -> FilePath { path.appending(other).appending("active") }

    private func folder(_ id: JobID, of other: String) -> FilePath { active(other).appending(id.text) }

    private func names(in folder: FilePath) throws(IOError) -> [FileName] {
        do throws(IOError) {
            return try Folder.names(in: folder)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return []
        }
    }

    /// Which of them has something of a job that is visible: its drop.
    func holder(of id: JobID, among others: [String]) throws(IOError) -> String? {
        for other in others {
            if try names(in: folder(id, of: other)).contains(where: { !$0.isHidden }) { return other }
        }
        return nil
    }

    /// Whether something visible is in a job's folder here: its drop.
    func hasDrop(_ id: JobID) throws(IOError) -> Bool {
        try names(in: work.folder(id)).contains { !$0.isHidden }
    }

    /// Brings what these have of a job into its folder here, the drop first. Where none of them has the drop, and it is
    /// not here either, nothing else is touched. Returns whether anything came.
    ///
    /// Others may be about to move such entries themselves, for the last time: who goes on with what came looks again.
    func gather(_ id: JobID, from others: [String]) throws(IOError) -> Bool {
        if try !hasDrop(id) {
            guard let holder = try holder(of: id, among: others) else { return false }
            try makeFolder(id)
            var isHere = false
            for name in try names(in: folder(id, of: holder)) where !name.isHidden {
                isHere = try take(name, of: id, from: holder) || isHere
            }
            // Somebody else was quicker.
            guard isHere else { return false }
            _ = try gatherRest(id, from: others)
            return true
        }
        return try gatherRest(id, from: others)
    }

    /// The same of a job whose drop may be published by now: whatever there is.
    func gatherRest(_ id: JobID, from others: [String]) throws(IOError) -> Bool {
        var hasCome = false
        for other in others {
            let names = try names(in: folder(id, of: other)).sorted { !$0.isHidden && $1.isHidden }
            if !names.isEmpty { try makeFolder(id) }
            for name in names where try take(name, of: id, from: other) { hasCome = true }
            // Whoever still believes that the job is its own can move nothing into it any more.
            _ = folder(id, of: other).withPlatformString { rmdir($0) }
        }
        return hasCome
    }

    /// False where it is not there any more: somebody else was quicker. What has its name here already stays, and the
    /// other is kept.
    private func take(_ name: FileName, of id: JobID, from other: String) throws(IOError) -> Bool {
        let (source, target) = (folder(id, of: other).appending(name), work.folder(id).appending(name))
        guard try Spot(target).statusNow == nil else {
            guard Folder.kind(of: source) != nil else { return false }
            _ = try WorkFolder.setAside(source, in: work.astray, as: id.text)
            return true
        }
        // One call: a link and then an unlink, as `NoReplace` does where a file system cannot else, has two winners.
        // Nobody else puts anything into our folders.
        let result = source.withPlatformString { from in target.withPlatformString { rename(from, $0) } }
        guard result != 0 else { return true }
        let error = Errno.last
        if try Spot(target).statusNow != nil { return true }
        guard error == .noSuchFileOrDirectory else { throw IOError("take over", source, error) }
        return false
    }

    /// Removes the folder of a job of which nothing is left but what stages made and nobody wants any more.
    func removeRest(of id: JobID, at other: String) throws(IOError) {
        let folder = folder(id, of: other)
        for name in try names(in: folder) {
            guard name.isHidden else { return }
            try Folder.remove(folder.appending(name))
        }
        _ = folder.withPlatformString { rmdir($0) }
    }

    /// Where one of them notes what it looks at.
    func looks(of other: String) -> FilePath { path.appending(other).appending("looks") }

    /// Removes what is empty of a dead one's folders for jobs, from the inside out: a claim by one who slept may land
    /// in them late, and is found then. Returns whether there are none any more.
    func isDone(_ other: String) -> Bool {
        removeEmpty(of: other)
        Self.remove(active(other))
        return Folder.kind(of: active(other)) == nil
    }

    /// Removes a dead one's folders for jobs that nothing is in.
    func removeEmpty(of other: String) { for id in jobs(of: other) { Self.remove(folder(id, of: other)) } }

    /// Removes all else of a dead one that has no folders for jobs any more, but for what was set aside for people.
    func remove(_ other: String) {
        let folder = path.appending(other)
        do throws(IOError) {
            for name in try names(in: looks(of: other)) {
                _ = looks(of: other).appending(name).withPlatformString { unlink($0) }
            }
        } catch {
            return
        }
        for name in ["looks", "trash", "astray"] { Self.remove(folder.appending(name)) }
        Self.remove(folder)
    }

    private static func remove(_ path: FilePath) { _ = path.withPlatformString { rmdir($0) } }
}

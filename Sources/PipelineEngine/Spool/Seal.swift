import Glibc
import PipelineKit
import SystemPackage

/// What every file of a drop looked like when it was proved, for a drop that stays its sender's (`ownership: keep`): he
/// can still write to it, and the kernel's own time of the last change (ctime) tells.
package struct Seal: Sendable {
    /// A hash of each file's path, inode, size and times, keyed at random in each process.
    private let entries: Set<Int>

    /// The seal of a drop as it is now.
    init(of job: Job) throws(IOError) {
        var entries: Set<Int> = []
        try Self.forEachFile(of: job) { path, status in entries.insert(Self.hash(path, status)) }
        self.entries = entries
    }

    /// The first file that is not as it was; nil where all are. What the stages added is ours, and no change.
    func broken(by job: Job) throws(IOError) -> FilePath? {
        var changed: FilePath?
        var found = 0
        try Self.forEachFile(of: job) { path, status in
            if entries.contains(Self.hash(path, status)) {
                found += 1
            } else if status.st_uid != geteuid() || job.drop.isFolder == false {
                changed = changed ?? path
            }
        }
        return changed ?? (found < entries.count ? FilePath().appending(job.drop.name) : nil)
    }

    private static func hash(_ path: FilePath, _ status: stat) -> Int {
        var hasher = Hasher()
        hasher.combine(path)
        hasher.combine(Fingerprint(status))
        return hasher.finalize()
    }

    private static func forEachFile(of job: Job, _ body: (FilePath, stat) -> Void) throws(IOError) {
        let folder = try Folder.open(job.folder)
        let drop = FilePath().appending(job.drop.name)
        var files = [drop]
        if try folder.kind(of: drop) == .folder {
            files = try FileTree.list(try folder.folder(drop)).files.map { drop.pushing($0.relative) }
        }
        for file in files {
            if let status = try folder.status(of: file) { body(file, status) }
        }
    }
}

extension StageFailure {
    /// A drop that stays its sender's was changed after the stages looked at it.
    static func changed(_ file: FilePath, of job: Job) -> StageFailure {
        .file(
            "claim.changed", "'\(file.text)' was changed after it was claimed, so it is not what the stages looked at.",
            remedy: "Send '\(job.drop.name)' again, and leave it alone from then on; with `ownership: take` nobody can "
                + "change it.")
    }
}

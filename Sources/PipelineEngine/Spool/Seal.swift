import Files
import Glibc
import PipelineKit
import SystemPackage

/// The state of every entry of a drop at its proof, for a drop that still belongs to its sender (`ownership: keep`),
/// who can still write to it: ctime shows that.
package struct Seal: Sendable {
    /// A hash of each entry's path and inode, and of size and times where it is not a folder, keyed at random in each
    /// process. Folders change with what the stages add to them.
    private var entries: Set<Int>
    /// Whether the sender is our own user, who is trusted.
    private let isOurs: Bool

    /// Seals a drop in its present state.
    init(of job: Job) throws(IOError) {
        var entries: Set<Int> = []
        var owner: uid_t?
        try Self.forEachEntry(of: job) { path, status in
            entries.insert(Self.hash(path, status))
            owner = owner ?? status.st_uid
        }
        self.entries = entries
        isOurs = owner == geteuid()
    }

    /// The first entry that changed; nil if none did. What our stages added does not count.
    func broken(by job: Job) throws(IOError) -> FilePath? {
        var changed: FilePath?
        var found = 0
        try Self.forEachEntry(of: job) { path, status in
            if entries.contains(Self.hash(path, status)) {
                found += 1
            } else if !job.drop.isFolder || !isAdded(status) {
                changed = changed ?? path
            }
        }
        return changed ?? (found < entries.count ? FilePath().appending(job.drop.name) : nil)
    }

    /// Accepts our copy, made after a failed sync, in place of a sealed file. One that had changed
    /// before stays changed.
    mutating func replace(_ path: FilePath, _ before: stat, by after: stat) {
        guard entries.remove(Self.hash(path, before)) != nil else { return }
        entries.insert(Self.hash(path, after))
    }

    /// Whether a stage may have made an entry. A sender can make links to files of ours, and links that lead to them.
    private func isAdded(_ status: stat) -> Bool {
        guard status.st_uid == geteuid() else { return false }
        switch FileKind(mode: status.st_mode) {
        case .folder: return true
        case .regular: return isOurs || status.st_nlink == 1
        default: return isOurs
        }
    }

    private static func hash(_ path: FilePath, _ status: stat) -> Int {
        var hasher = Hasher()
        hasher.combine(path)
        if FileKind(mode: status.st_mode) == .folder {
            hasher.combine(status.st_ino)
        } else {
            // The device number is different after a remount.
            var print = Fingerprint(status)
            print.device = 0
            hasher.combine(print)
        }
        return hasher.finalize()
    }

    private static func forEachEntry(of job: Job, _ body: (FilePath, stat) -> Void) throws(IOError) {
        let folder = try Folder.open(job.folder)
        let drop = FilePath().appending(job.drop.name)
        guard let status = try folder.status(of: drop) else { return }
        body(drop, status)
        guard FileKind(mode: status.st_mode) == .folder else { return }
        let tree = try FileTree.list(try folder.folder(drop))
        for entry in tree.files.map(\.relative) + tree.folders + tree.links + tree.specials {
            let path = drop.pushing(entry)
            if let status = try folder.status(of: path) { body(path, status) }
        }
    }
}

extension Failure {
    /// A drop that still belongs to its sender changed after the stages read it.
    static func changed(_ file: FilePath, of job: Job) -> Failure {
        .file(
            "claim.changed", "'\(file.text)' was changed after the claim, so the stages processed different content.",
            remedy: "Send '\(job.drop.name)' again and do not change it afterwards; `ownership: take` prevents such "
                + "changes.")
    }
}

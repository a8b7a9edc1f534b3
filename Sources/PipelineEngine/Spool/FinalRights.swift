import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// The rights of what is published: what was closed in a drop stays closed in all that is made of it, and the pipeline
/// may say what outputs get.
struct FinalRights {
    private let role: Intent.Role
    private let rights: OutputRights
    /// The drop's own mode; nil where it is not there any more.
    private let drop: mode_t?
    /// Whether the thing is the drop itself, with the rights that it has.
    private let isDrop: Bool
    /// Who gets what lies beside a drop that failed.
    private let sender: TakeOver.Sender?

    /// For one thing of a job; `found`: what is known of the thing itself.
    init(_ placement: Placement, _ found: FileIdentity.Found?, of job: Job, _ rights: OutputRights) {
        role = placement.role
        self.rights = role == .output ? rights : OutputRights()
        isDrop = placement.source == job.original
        var status = found?.status ?? stat()
        var isThere = isDrop && found != nil
        if !isDrop { isThere = job.original.withPlatformString { lstat($0, &status) } == 0 }
        drop = isThere ? status.st_mode : nil
        guard placement.isFailure, isThere else {
            sender = nil
            return
        }
        let isOthers = status.st_uid != geteuid()
        // Where it is given back once it is copied, it is ours until then.
        sender = isOthers ? TakeOver.Sender(user: status.st_uid, group: status.st_gid, mode: 0) : Self.sender(of: job)
    }

    private static func sender(of job: Job) -> TakeOver.Sender? {
        do throws(IOError) {
            return try Spool.sender(of: job)
        } catch {
            return nil
        }
    }

    /// Gives a file, or a folder with all it holds, its rights. Nothing is done where they are right already.
    func apply(to path: FilePath) throws(IOError) {
        guard role == .output, !rights.isEmpty || !isDrop && narrows else { return }
        let folder = try Folder.holding(path)
        let top = path.lastEntry
        switch try folder.kind(of: top) {
        case .regular: try apply(to: try folder.open(top, O_RDONLY | O_NONBLOCK), isFolder: false)
        case .folder:
            let tree = try FileTree.list(try folder.folder(top))
            for file in tree.files {
                try apply(to: try folder.open(top.pushing(file.relative), O_RDONLY | O_NONBLOCK), isFolder: false)
            }
            // The deepest first: one that is closed could not be entered any more.
            for path in tree.folders.reversed() + [FilePath()] {
                try apply(to: try folder.open(top.pushing(path), O_RDONLY | O_DIRECTORY), isFolder: true)
            }
        default: break
        }
    }

    /// Gives a file that goes beside it its rights.
    func apply(toSidecar file: borrowing OpenFile) throws(IOError) {
        if !rights.isEmpty || narrows { try apply(to: file, isFolder: false) }
        // Who can fetch what failed can read why.
        if let sender { _ = fchown(file.descriptor, sender.user, sender.group) }
    }

    private var narrows: Bool { drop.map { OutputRights.openness(of: $0) != 0o777 } ?? false }

    private func apply(to file: borrowing OpenFile, isFolder: Bool) throws(IOError) {
        let status = try file.status()
        let mode = rights.mode(of: status.st_mode & 0o777, isFolder: isFolder, drop: drop ?? 0o777)
        // The mode first: afterwards it may not be ours to change.
        if mode != status.st_mode & 0o7777, fchmod(file.descriptor, mode) != 0 {
            throw IOError("set the mode of", file.path, .last)
        }
        guard rights.owner != nil || rights.group != nil else { return }
        // -1 leaves it as it is (chown(2)).
        guard fchown(file.descriptor, rights.owner ?? uid_t.max, rights.group ?? gid_t.max) == 0 else {
            throw IOError("set the owner of", file.path, .last)
        }
    }
}

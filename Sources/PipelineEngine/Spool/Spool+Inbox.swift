import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

extension Spool {
    /// Moves an entry of an inbox folder into a folder of ours in which the target's name is free.
    /// Returns the error, or nil.
    static func take(_ name: FileName, in folder: borrowing OpenFile, as target: FilePath) -> Errno? {
        let from = folder.descriptor
        return name.withCString { old in
            target.withPlatformString { new in
                if dm_rename_noreplace(from, old, AT_FDCWD, new) == 0 { return nil }
                let error = Errno.last
                guard error == .invalidArgument || error == .noFunction else { return error }
                // A file system without RENAME_NOREPLACE (FUSE, some network ones). The folder is ours alone, so
                // there is nothing to replace.
                return renameat(from, old, AT_FDCWD, new) == 0 ? nil : .last
            }
        }
    }

    /// Throws while the inbox is not the one of the start: missing, or on another mount than the work folder. Then its
    /// file system is not mounted, or another one covers it, and what is seen there says nothing about the drops.
    func checkInbox() throws(Failure) {
        guard !isTail else {
            guard work.isInPlace else { throw work.isLost ? .workLost(self) : .workAway(self) }
            return
        }
        let inbox = pipeline.inbox
        let mount = inbox.withPlatformString { dm_mount_id($0) }
        if mount >= 0, mount == work.active.withPlatformString({ dm_mount_id($0) }) {
            guard work.isInPlace else { throw work.isLost ? .workLost(self) : .workAway(self) }
            return
        }
        // A kernel without mount numbers cannot tell.
        if mount < 0, Folder.kind(of: inbox, followingLinks: true) == .folder, Folder.kind(of: work.active) == .folder {
            return
        }
        guard Folder.kind(of: inbox, followingLinks: true) == .folder else {
            throw Failure(
                .environment, code: "inbox.gone", summary: "The inbox '\(inbox.text)' is gone.",
                remedy: "Create the folder again, or mount its file system; processing resumes by itself.")
        }
        guard Folder.kind(of: work.active) == .folder else { throw .workAway(self) }
        throw Failure(
            .environment, code: "inbox.away",
            summary: "The inbox '\(inbox.text)' is no longer on the mount of its work folder '\(work.path.text)'.",
            remedy: "Restore the mount, and processing resumes by itself; or start Dropmill again.")
    }
}

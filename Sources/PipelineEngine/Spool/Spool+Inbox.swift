import CLinux
import PipelineKit
import SystemPackage

extension Spool {
    /// Throws while the inbox is not what it was at the start: gone, or on another mount than the work folder. Then its
    /// file system is away, or another one lies over it, and what is seen in its place says nothing of the drops.
    func checkInbox() throws(StageFailure) {
        let inbox = pipeline.inbox
        let mount = inbox.withPlatformString { dm_mount_id($0) }
        if mount >= 0, mount == work.active.withPlatformString({ dm_mount_id($0) }) { return }
        // What a kernel without mount numbers says is of no use.
        if mount < 0, Folder.kind(of: inbox, followingLinks: true) == .folder, Folder.kind(of: work.active) == .folder {
            return
        }
        guard Folder.kind(of: inbox, followingLinks: true) == .folder else {
            throw StageFailure(
                .environment, code: "inbox.gone", summary: "The inbox '\(inbox.text)' is gone.",
                remedy: "Make the folder again, or mount its file system; work goes on by itself.")
        }
        guard Folder.kind(of: work.active) == .folder else {
            throw StageFailure(
                .environment, code: "work.gone",
                summary: "The work folder '\(work.path.text)' of the inbox '\(inbox.text)' is gone.",
                remedy: "Mount its file system again, or start Dropmill again; work goes on by itself.")
        }
        throw StageFailure(
            .environment, code: "inbox.away",
            summary: "The inbox '\(inbox.text)' is not on the mount of its work folder '\(work.path.text)' any more.",
            remedy: "Mount their file system as it was, or start Dropmill again; work goes on by itself.")
    }
}

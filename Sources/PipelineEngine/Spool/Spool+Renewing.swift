import Files
import Glibc
import PipelineKit
import SystemPackage

extension Spool {
    /// Rewrites the drop after a failed sync: the kernel may have discarded data that it could not write
    /// and report success for the next sync (measured with ext4 on a failing device; fsync(2), "EIO"). A copy that
    /// shares nothing with the old file is really written, or its own sync fails.
    ///
    /// File by file, each by a rename over the old one: whenever this ends, the drop is whole.
    ///
    /// `seal` is updated, so that the new files do not count as changes by the sender.
    func renewDrop(of job: Job, _ seal: inout Seal?) throws(IOError) {
        guard Folder.kind(of: job.original) != nil else { return }
        try renew(job.original, of: job, &seal)
        if let marker = try Self.marker(in: job.folder) { try renew(marker, of: job, &seal) }
    }

    private func renew(_ path: FilePath, of job: Job, _ seal: inout Seal?) throws(IOError) {
        let folder = try Folder.open(job.folder)
        let copy = FilePath(".anew")
        var relative = path
        _ = relative.removePrefix(job.folder)
        let isFolder = try folder.kind(of: relative) == .folder
        let files = isFolder ? try FileTree.list(try folder.folder(relative)).files.map(\.relative) : [FilePath()]
        for file in files {
            let file = relative.pushing(file)
            try folder.remove(copy)
            try Transfer.copyFile(file, in: folder, to: copy, in: folder, sharing: false)
            // After it was copied: what was changed until then is in the copy.
            let before = try folder.status(of: file)
            try folder.rename(copy, over: file)
            if let before, let after = try folder.status(of: file) { seal?.replace(file, before, by: after) }
        }
    }

    /// Opens a new file for writing; an existing one is replaced, not rewritten.
    static func makeAnew(_ path: FilePath) throws(IOError) -> OpenFile {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        do throws(IOError) {
            return try OpenFile.open(path, flags, mode: 0o666)
        } catch {
            guard error.errno == .fileExists else { throw error }
        }
        try Folder.remove(path)
        return try OpenFile.open(path, flags, mode: 0o666)
    }
}

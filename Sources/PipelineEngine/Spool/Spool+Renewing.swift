import Glibc
import PipelineKit
import SystemPackage

extension Spool {
    /// Makes what was dropped anew, for a sync that failed: the kernel may have given up data that it could not write
    /// and yet call the next sync a success (measured with ext4 on a device that fails; fsync(2), "EIO"). A copy that
    /// shares nothing with the old file is written for certain, or its own sync fails.
    ///
    /// File by file, each by a rename over the old one: whenever this ends, the drop is whole.
    func renewDrop(of job: Job) throws(IOError) {
        guard Folder.kind(of: job.original) != nil else { return }
        try renew(job.original, of: job)
        if let marker = try Self.marker(in: job.folder) { try renew(marker, of: job) }
    }

    private func renew(_ path: FilePath, of job: Job) throws(IOError) {
        let copy = job.folder.appending(".anew")
        for file in try Self.files(in: path) {
            try Folder.remove(copy)
            try Transfer.copyFile(file, to: copy, sharing: false)
            try NoReplace.replace(file, with: copy)
        }
    }

    /// Opens a new file for writing; one of that name gives way to it instead of being written to again.
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

    private static func files(in path: FilePath) throws(IOError) -> [FilePath] {
        guard Folder.kind(of: path) == .folder else { return [path] }
        return try FileTree.list(path).files.map { path.pushing($0.relative) }
    }
}

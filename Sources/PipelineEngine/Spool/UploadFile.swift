import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

/// One file that another process writes, through a descriptor that is passed on.
final class UploadFile: Sendable {
    let size: Int64
    /// For reading alone: so a lease shows whoever else has it open for writing.
    let file: OpenFile

    /// Makes one, empty, that is not there yet.
    init(_ path: FilePath, below folder: HeldFolder, size: Int64) throws(IOError) {
        self.size = size
        // As readable as others let the drops be that they make.
        file = try folder.folder.open(path, O_RDONLY | O_CREAT | O_EXCL, mode: 0o644)
    }

    /// Opens it once more, for whoever writes it.
    func openForWriting() throws(UploadRefusal) -> OpenFile {
        try UploadRefusal.refusing { () throws(IOError) in
            try OpenFile.open(FilePath("/proc/self/fd/\(file.descriptor)"), O_WRONLY)
        }
    }

    /// Throws unless all of it is there and nobody can write to it any more.
    func checkContent() throws(UploadRefusal) {
        let there = try UploadRefusal.refusing { () throws(IOError) in try file.status().st_size }
        guard there == size else {
            throw UploadRefusal(
                .otherLength, "\(there) bytes have come, and \(size) were announced", remedy: "Send it again, whole.")
        }
        guard dm_probe_read_lease(file.descriptor) != 0, Errno.last == .resourceTemporarilyUnavailable else { return }
        throw UploadRefusal(
            .stillOpen, "it is still open for writing", remedy: "Close its descriptor before it is finished.")
    }
}

import Files
import Glibc
import PipelineKit
import SystemPackage

/// What went wrong with a drop while it was settled, where that is its own trouble.
extension IOError {
    /// Whether a drop in its job's folder could not be read by its sender's doing: its mode, or a lease.
    func isOfReading(_ job: Job) -> Bool {
        path.starts(with: job.original) && errno != .ioError && errno.trouble(with: .drop) == .waits
    }

    /// Whether it cannot be brought to where it goes, whatever is done there: it is larger than that file system, or
    /// another user's folder that we may not write to (a move changes its `..`).
    func isOfMoving(_ source: FilePath?, of job: Job) -> Bool {
        if errno == .fileTooLarge { return true }
        guard errno == .permissionDenied, source == job.original, let status = FileStatus.of(job.original) else {
            return false
        }
        return FileKind(mode: status.st_mode) == .folder && status.st_uid != geteuid()
    }

    /// Whether what was sealed cannot be reached any more by its sender's doing, and not the disk's.
    var isSendersDoing: Bool { errno == .permissionDenied || errno.trouble(with: .drop) == .gone }
}

extension Failure {
    /// Trouble of the drop itself, whatever it would be of a folder of ours.
    static func ofDrop(_ error: IOError) -> Failure {
        var failure = Failure(inStage: error)
        failure.class = .file
        return failure
    }
}

import PipelineKit
import SystemPackage

extension Failure {
    static func missing(_ path: FilePath, of job: Job) -> Failure {
        .file(
            "settle.missing", "'\(path.text)' is gone: it was removed from the work folder while its job ran.",
            remedy: "Drop '\(job.drop.name)' again, and keep other programs out of the work folder. What "
                + "a program put there in its place is kept in 'astray' in the work folder.")
    }

    /// The work folder cannot be reached: what was claimed is there, but cannot be seen.
    static func workAway(_ spool: Spool) -> Failure {
        Failure(
            .environment, code: "work.gone",
            summary: "The work folder '\(spool.work.path.text)' of the inbox '\(spool.pipeline.inbox.text)' is gone.",
            remedy: "Mount its file system again; processing resumes by itself. If only the folder was removed, it is "
                + "created again.")
    }

    /// Another host works in the work folder now.
    static func workLost(_ spool: Spool) -> Failure {
        Failure(
            .environment, code: "work.lost",
            summary: "Another host has taken over the work folder '\(spool.work.path.text)': this host did not "
                + "renew its hold in time.",
            remedy: "Run only one host on this inbox, and start Dropmill again there.")
    }

    /// A failed settlement: a name in use is the drop's problem; everything else is classified by its errno.
    static func settling(_ error: IOError) -> Failure {
        guard error.errno == .fileExists else {
            var failure = Failure(error)
            // A mount that came or went meanwhile is not the drop's fault.
            if error.errno == .improperLink { failure.class = .environment }
            return failure
        }
        return .file(
            "conflict.taken", "'\(error.path.text)' exists already.",
            remedy: "Move it away and drop the file again, or set `on_conflict: rename`.")
    }

    /// A decided step failed: a problem of the surroundings, whatever the errno.
    static func unsettled(_ error: IOError) -> Failure {
        var failure = Failure(error)
        failure.class = .environment
        return failure
    }
}

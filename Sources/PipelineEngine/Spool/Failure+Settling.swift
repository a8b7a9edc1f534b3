import Files
import PipelineKit
import SystemPackage

extension Failure {
    static func missing(_ path: FilePath, of job: Job) -> Failure {
        .file(
            missing, "'\(path.text)' is gone: it was removed from the work folder while its job ran.",
            remedy: "Drop '\(job.drop.name)' again, and keep other programs out of the work folder. What "
                + "a program put there in its place is kept in 'astray' in the work folder.")
    }

    private static let missing = "settle.missing"

    var isMissing: Bool { code == Self.missing }

    /// The work folder cannot be reached: what was claimed is there, but cannot be seen.
    static func workAway(_ spool: Spool) -> Failure {
        Failure(
            .environment, code: "work.gone",
            summary: "The work folder '\(spool.work.path.text)' of the inbox '\(spool.pipeline.inbox.text)' is gone.",
            remedy: "Mount its file system again; processing resumes by itself. If only the folder was removed, it is "
                + "created again.")
    }

    /// Whether the inbox or the work folder is not where it was, as where their file system is not mounted.
    var isOfPlace: Bool { ["inbox.gone", "inbox.away", "work.gone", "work.lost"].contains(code) }

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

    /// It would take the name of a list of digests.
    static func named(_ placement: Placement) -> Failure {
        .file(
            "conflict.list",
            "'\(placement.folder.appending(placement.name).text)' is the name of a list of digests.",
            remedy: "Send it again under another name, give the list another one with `manifest`, or set "
                + "`on_conflict: rename`.")
    }

    /// Lines could not be added to a list. What they tell of is published by then, so it is never the drop's fault.
    static func ofList(_ error: IOError) -> Failure {
        var failure = Failure.unsettled(error)
        if error.action == ListFile.adding {
            failure.code = "list.strange"
            failure.summarySentence = "'\(error.path.text)' is no list that lines of digests can be added to."
            failure.remedy =
                "Only a file is that has no other names, and no link, folder or device. Move it away, or name another "
                + "list with 'manifest'; processing resumes by itself."
        }
        return failure
    }

    /// It would go into a folder that came with something else in place of its list.
    static func strangeList(_ path: FilePath) -> Failure {
        .file(
            "list.strange", "'\(path.text)' is no list that lines of digests can be added to.",
            remedy: "What was published before has it in its place; move that away and drop the file again.")
    }

    /// A folder that has something else where a list would be.
    static func holdsList(_ path: FilePath, _ drop: Drop) -> Failure {
        .file(
            "conflict.list",
            "'\(drop.name)' holds '\(path.lastName?.text ?? path.text)', which is no file of its own that can be "
                + "written to, where a list of digests has that name.",
            remedy: "Send it again without that, or give the list another name with `manifest`.")
    }

    /// A decided step failed: a problem of the surroundings, whatever the errno.
    static func unsettled(_ error: IOError) -> Failure {
        var failure = Failure(error)
        failure.class = .environment
        return failure
    }
}

import Archive
import Files
import Glibc
import PipelineKit
import SystemPackage

extension Failure {
    /// What an archive's error means for the job: the archive is bad, or the surroundings are.
    /// `folder` is where it was extracted to, `archive` the file it was read from.
    init(_ error: ArchiveError, archive: FilePath, folder: FilePath) {
        switch error {
        case .bad(let problem):
            let subject: Sentence = problem.entry.map { "The archive's entry '\(EscapedText.of($0))'" } ?? "The archive"
            self.init(
                Class(problem.code), code: problem.code.rawValue,
                summary: "\(subject) \(problem.fact).", remedy: Sentence(problem.remedy),
                detail: EscapedText.of(Array(problem.detail.utf8)))
        case .system(let action, let entry, let errno):
            let path =
                action == "read"
                ? archive : entry.map { folder.pushing(FilePath(bytes: $0.filter { $0 != 0 })) } ?? folder
            self.init(inStage: IOError(action, path, errno))
        case .stopped: self = .cancelled
        }
    }

    /// The same for a failure of the unpacking process. One that was killed or crashed is retried, as often
    /// as `retry` says: memory may have been short, but a file that causes it every time must fail.
    init(_ failure: HelperFailure, archive: FilePath, name: FileName, folder: FilePath) {
        switch failure {
        case .archive(.system(let action, let entry, let errno)) where errno.isOfConfinement:
            let subject = entry.map { "the archive's entry '\(EscapedText.of($0))'" } ?? "the archive"
            self.init(
                .environment, code: "unpack.refused",
                summary: "The unpacking process is not allowed to \(action) \(subject): \(errno).",
                remedy:
                    "Check what denies it besides its own confinement: a security module, a container's profile, the "
                    + "file system; processing resumes by itself.",
                detail: "errno \(errno.rawValue)")
        case .archive(let error):
            self.init(error, archive: archive, folder: folder)
            if code == "archive.damaged", MissedArchive.isPart(name.bytes, isArchive: true) {
                summarySentence = summarySentence + " Its name marks it as one part of a split archive."
                remedy = "Join the parts and send the complete archive."
            }
        case .cancelled: self = .cancelled
        case .crashed(SIGKILL, _, let log):
            self = Self.helper(
                "archive.helper-killed", "was killed, probably for lack of memory",
                remedy: "Give the machine more memory if the archive is known to be good.", log)
        case .crashed(let signal, let status, let log):
            let how = signal > 0 ? "signal \(signal)" : "status \(status)"
            self = Self.helper(
                "archive.helper-crashed", "crashed (\(how))",
                remedy: "Do not trust the archive. If it is known to be good, please report it.", log)
        case .confused:
            self = Self.helper(
                "archive.helper-crashed", "sent an invalid report or left something forbidden",
                remedy: "Do not trust the archive.", "")
        case .overgrown:
            self = Self.helper(
                "archive.helper-crashed", "wrote more than it is allowed to", remedy: "Do not trust the archive.", "")
        case .overTime(let seconds): self = .overTime(name, "\(seconds) seconds")
        case .overCPU:
            self = .file(
                "archive.timeout", "The archive '\(name)' took too much CPU time to unpack.",
                remedy: "Raise `timeout` of the stage 'unpack' if archives are that large.")
        case .unconfined(let call, let errno):
            let isMissing = call == UnpackWorker.noLandlock
            let fact: Sentence = isMissing ? "\(UnpackProgram.landlock(errno))" : "\(call) is denied: \(errno)"
            self.init(
                .environment, code: "unpack.no-sandbox",
                summary: "The unpacking process cannot be confined: \(fact).",
                remedy: (isMissing && errno != .notPermitted
                    ? "Run Linux 5.13 or later with `landlock` among its security modules (lsm=)"
                    : "Allow it: SystemCallFilter= in the service's unit, or a container's profile, may forbid it")
                    + (isMissing
                        ? "; or do without: `require_sandbox: false` in the stage 'unpack' leaves it a list of system "
                            + "calls." : "."))
        case .unloaded(let words):
            self.init(
                .environment, code: "unpack.library", summary: "Archives cannot be unpacked without libarchive.",
                remedy: "Install it (libarchive13); processing resumes by itself.",
                detail: EscapedText.of(Array(words.utf8)))
        case .unavailable(let errno):
            let isGone = errno == .noChildProcess
            self.init(
                .environment, code: "unpack.no-helper",
                summary: "The unpacking process "
                    + (isGone ? "exits at once each time it is started." : "cannot be started: \(errno)."),
                remedy: "Check the limits on processes and memory; processing resumes by itself.")
        }
    }

    /// Unpacking exceeded its time limit.
    static func overTime(_ name: FileName, _ time: String) -> Failure {
        .file(
            "archive.timeout", "The archive '\(name)' took longer than \(time) to unpack.",
            remedy: "Raise `timeout` of the stage 'unpack' if archives are that large.")
    }

    private static func helper(_ code: String, _ what: String, remedy: Sentence, _ log: String) -> Failure {
        Failure(
            .transient, code: code, summary: "The process that unpacked the archive \(what).", remedy: remedy,
            detail: EscapedText.of(Array(log.utf8)))
    }
}

extension Failure.Class {
    /// Who is at fault. One archive that does not fit must not hold up the others; a disk
    /// that others filled pauses the pipeline.
    fileprivate init(_ code: ArchiveError.Code) {
        switch code {
        case .noRoom: self = .transient
        case .diskFull: self = .environment
        default: self = .file
        }
    }
}

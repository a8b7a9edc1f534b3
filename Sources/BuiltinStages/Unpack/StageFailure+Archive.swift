import Archive
import Glibc
import PipelineKit
import SystemPackage

extension StageFailure {
    /// What an archive's error means for the job: the archive is bad, or the surroundings are.
    /// `folder` is where it was extracted to, `archive` the file it was read from.
    init(_ error: ArchiveError, archive: FilePath, folder: FilePath) {
        switch error {
        case .bad(let problem):
            let subject = problem.entry.map { "The archive's entry '\(EscapedText.of($0))'" } ?? "The archive"
            self.init(
                Class(problem.code), code: problem.code.rawValue,
                summary: "\(subject) \(problem.fact).", remedy: problem.remedy,
                detail: EscapedText.of(Array(problem.detail.utf8)))
        case .system(let action, let entry, let errno):
            let path =
                action == "read"
                ? archive : entry.map { folder.pushing(FilePath(bytes: $0.filter { $0 != 0 })) } ?? folder
            self.init(inStage: IOError(action, path, errno))
        case .stopped: self = .cancelled
        }
    }

    /// The same for what became of the process that unpacked. One that was killed or crashed is tried again, as often
    /// as the pipeline tries: it may have been the machine's memory, but a file that does it each time does it no more.
    init(_ failure: HelperFailure, archive: FilePath, name: FileName, folder: FilePath) {
        switch failure {
        case .archive(.system(let action, let entry, let errno)) where errno.isOfConfinement:
            let subject = entry.map { "the archive's entry '\(EscapedText.of($0))'" } ?? "the archive"
            self.init(
                .environment, code: "unpack.refused",
                summary: "The process that unpacks may not \(action) \(subject): \(errno).",
                remedy:
                    "Look what refuses it beside its own confinement: a security module, a container's profile, the "
                    + "file system; work goes on by itself.",
                detail: "errno \(errno.rawValue)")
        case .archive(let error):
            self.init(error, archive: archive, folder: folder)
            if code == "archive.damaged", MissedArchive.isPart(name.bytes, isArchive: true) {
                summary += " Its name says that it is one part of a split archive."
                remedy = "Put the parts together and send the whole."
            }
        case .cancelled: self = .cancelled
        case .crashed(SIGKILL, _, let log):
            self = Self.helper(
                "archive.helper-killed", "was killed, probably because memory was short",
                remedy: "Give the machine more memory if the archive is known to be good.", log)
        case .crashed(let signal, let status, let log):
            let how = signal > 0 ? "signal \(signal)" : "status \(status)"
            self = Self.helper(
                "archive.helper-crashed", "crashed (\(how))",
                remedy: "Do not trust the archive. If it is known to be good, please report it.", log)
        case .confused:
            self = Self.helper(
                "archive.helper-crashed", "said or left something that it should not",
                remedy: "Do not trust the archive.", "")
        case .overgrown:
            self = Self.helper(
                "archive.helper-crashed", "wrote more than it may", remedy: "Do not trust the archive.", "")
        case .overTime(let seconds): self = .overTime(name, "\(seconds) seconds")
        case .overCPU:
            self = .file(
                "archive.timeout", "The archive '\(name)' took more computing than it may to unpack.",
                remedy: "Give the stage 'unpack' a longer `timeout`, if archives are that large.")
        case .unconfined(let call, let errno):
            let isMissing = call == UnpackWorker.noLandlock
            self.init(
                .environment, code: "unpack.no-sandbox",
                summary: "The process that unpacks cannot be confined: "
                    + (isMissing ? UnpackProgram.landlock(errno) : "\(call) is refused: \(errno)") + ".",
                remedy: (isMissing && errno != .notPermitted
                    ? "Run Linux 5.13 or later with `landlock` among its security modules (lsm=)"
                    : "Let the service call it: SystemCallFilter= of its unit, or a container's profile, may forbid it")
                    + (isMissing
                        ? "; or do without: `require_sandbox: false` in the stage 'unpack' leaves it a list of system "
                            + "calls." : "."))
        case .unavailable(let errno):
            let isGone = errno == .noChildProcess
            self.init(
                .environment, code: "unpack.no-helper",
                summary: "The process that unpacks "
                    + (isGone ? "ends before it begins, however often it is started." : "cannot be started: \(errno)."),
                remedy: "Look for limits on processes or memory; work goes on by itself.")
        }
    }

    /// The archive is not done within the time that it may take.
    static func overTime(_ name: FileName, _ time: String) -> StageFailure {
        .file(
            "archive.timeout", "The archive '\(name)' took longer than \(time) to unpack.",
            remedy: "Give the stage 'unpack' a longer `timeout`, if archives are that large.")
    }

    private static func helper(_ code: String, _ what: String, remedy: String, _ log: String) -> StageFailure {
        StageFailure(
            .transient, code: code, summary: "The process that unpacked the archive \(what).", remedy: remedy,
            detail: EscapedText.of(Array(log.utf8)))
    }
}

extension StageFailure.Class {
    /// Whose fault an archive's problem is. One archive that does not fit is no reason to hold up all others; a disk
    /// that others filled is.
    fileprivate init(_ code: ArchiveError.Code) {
        switch code {
        case .noRoom: self = .transient
        case .diskFull: self = .environment
        default: self = .file
        }
    }
}

import FileTypes
import Files
import Glibc
import PipelineKit
import SystemPackage

extension Failure {
    /// What it means for the job that a file's type cannot be told.
    init(_ failure: TypeFailure, of path: FilePath) {
        let fact: Sentence = "The type of '\(path.lastName?.text ?? "")' cannot be detected"
        let distrust: Sentence = "Do not trust the file. If it is known to be good, please report it."
        switch failure {
        case .content(let words):
            self = .file(
                "detect.limit", "\(fact): \(words).",
                remedy: "It is damaged, or crafted to be hard to examine; ordinary programs do not create such files.")
        case .unreadable(let errno): self.init(inStage: IOError("read", path, errno))
        case .crashed(SIGKILL, _, let log):
            self.init(
                .transient, code: "type.helper-killed",
                summary: "\(fact): the process that examined it was killed, probably for lack of memory.",
                remedy: "Give the machine more memory if the file is known to be good.", detail: Self.detail(log))
        case .crashed(let signal, let status, let log):
            let how = signal > 0 ? "signal \(signal)" : "status \(status)"
            self = .file(
                "type.helper-crashed", "\(fact): the process that examined it crashed (\(how)).", remedy: distrust,
                detail: Self.detail(log))
        case .confused:
            self = .file(
                "type.helper-crashed", "\(fact): the process that examined it gave an invalid answer.",
                remedy: distrust)
        case .overTime(let seconds):
            self = .file(
                "type.timeout", "\(fact): it took longer than \(seconds) seconds.",
                remedy: "Set a `timeout` for the stage, if files are read that slowly.")
        case .overCPU:
            self = .file("type.timeout", "\(fact): it took too much CPU time.", remedy: distrust)
        case .unloaded(let words):
            self.init(
                .environment, code: "detect.library", summary: "File types cannot be detected.",
                remedy: "Install libmagic with its rules (libmagic1, libmagic-mgc); processing resumes by itself.",
                detail: words)
        case .unconfined(let what):
            self.init(
                .environment, code: "type.no-sandbox",
                summary: "The process that detects file types cannot be confined: \(what).",
                remedy: "Run a kernel with seccomp; processing resumes by itself.")
        case .unavailable(let errno):
            let isGone = errno == .noChildProcess
            self.init(
                .environment, code: "type.no-helper",
                summary: "The process that detects file types "
                    + (isGone ? "exits at once each time it is started." : "cannot be started: \(errno)."),
                remedy: "Check the limits on processes and memory; processing resumes by itself.")
        case .cancelled: self = .cancelled
        }
    }

    private static func detail(_ log: String) -> String { EscapedText.of(Array(log.utf8)) }
}

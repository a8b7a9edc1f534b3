import FileTypes
import Glibc
import PipelineKit
import SystemPackage

extension StageFailure {
    /// What it means for the job that a file's type cannot be told.
    init(_ failure: TypeFailure, of path: FilePath) {
        let fact = "The type of '\(path.lastName?.text ?? "")' cannot be told"
        let distrust = "Do not trust the file. If it is known to be good, please report it."
        switch failure {
        case .content(let words):
            self = .file(
                "detect.limit", "\(fact): \(words).",
                remedy: "It is damaged, or made to be hard to look at; no program makes such files.")
        case .unreadable(let errno): self.init(inStage: IOError("read", path, errno))
        case .crashed(SIGKILL, _, let log):
            self.init(
                .transient, code: "type.helper-killed",
                summary: "\(fact): the process that looked at it was killed, probably because memory was short.",
                remedy: "Give the machine more memory if the file is known to be good.", detail: Self.detail(log))
        case .crashed(let signal, let status, let log):
            let how = signal > 0 ? "signal \(signal)" : "status \(status)"
            self = .file(
                "type.helper-crashed", "\(fact): the process that looked at it crashed (\(how)).", remedy: distrust,
                detail: Self.detail(log))
        case .confused:
            self = .file(
                "type.helper-crashed", "\(fact): the process that looked at it said something that it should not.",
                remedy: distrust)
        case .overTime(let seconds):
            self = .file(
                "type.timeout", "\(fact): it took longer than \(seconds) seconds.",
                remedy: "Give the stage a `timeout` of its own, if files are read that slowly.")
        case .overCPU:
            self = .file("type.timeout", "\(fact): it took more computing than it may.", remedy: distrust)
        case .unloaded(let words):
            self.init(
                .environment, code: "detect.library", summary: "Files' types cannot be told.",
                remedy: "Install libmagic with its rules (libmagic1, libmagic-mgc); work goes on by itself.",
                detail: words)
        case .unconfined(let what):
            self.init(
                .environment, code: "type.no-sandbox",
                summary: "The process that tells files' types cannot be confined: \(what).",
                remedy: "Run a kernel with seccomp; work goes on by itself.")
        case .unavailable(let errno):
            let isGone = errno == .noChildProcess
            self.init(
                .environment, code: "type.no-helper",
                summary: "The process that tells files' types "
                    + (isGone ? "ends before it begins, however often it is started." : "cannot be started: \(errno)."),
                remedy: "Look for limits on processes or memory; work goes on by itself.")
        case .cancelled: self = .cancelled
        }
    }

    private static func detail(_ log: String) -> String { EscapedText.of(Array(log.utf8)) }
}

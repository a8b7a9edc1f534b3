import Archive
import PipelineKit
import SystemPackage

extension StageFailure {
    /// What an archive's error means for the job: the archive is bad, or the surroundings are.
    /// `folder` is where it was extracted to, `archive` the file it was read from.
    init(_ error: ArchiveError, archive: FilePath, folder: FilePath) {
        switch error {
        case .bad(let problem):
            let subject = problem.entry.map { "The archive's entry '\(EscapedText.of($0))'" } ?? "The archive"
            self = .file(
                problem.code.rawValue, "\(subject) \(problem.fact).", remedy: problem.remedy,
                detail: EscapedText.of(problem.detail))
        case .system(let action, let entry, let errno):
            let path =
                action == "read"
                ? archive : entry.map { folder.pushing(FilePath(bytes: $0.filter { $0 != 0 })) } ?? folder
            self.init(inStage: IOError(action, path, errno))
        case .stopped: self = .cancelled
        }
    }
}

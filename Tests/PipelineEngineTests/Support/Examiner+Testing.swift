@preconcurrency import Dispatch
import Files
import PipelineKit
import SystemPackage

@testable import FolderWatch
@testable import Readiness

extension Examiner {
    /// One that looks at an inbox for a test. `isNotified`: whether it hears of each change, or looks for itself.
    static func testing(_ inbox: FilePath, _ rule: ReadyRule = ReadyRule(), isNotified: Bool) -> Examiner {
        let queue = DispatchQueue(label: "test.examiner")
        return Examiner(
            rule: rule, match: MatchRule(), sight: WriterSight(of: inbox),
            digests: DigestCheck.reading(of: "test", in: inbox, for: queue),
            formats: FormatCheck.reading(of: "test", in: inbox, limits: rule.limits, by: nil, for: queue),
            isNotified: isNotified)
    }

    /// What a file lacks, by a look that decides.
    func lack(of name: FileName, in folder: borrowing OpenFile) throws -> Waiting? {
        guard case .over(let outcome) = try examine(DropPath(name), in: folder, deciding: true) else { return nil }
        return outcome.lacking
    }
}

import Completeness
import Readiness
import SystemPackage

/// The program that looks whether files are whole by their formats: this one, in processes of its own.
enum FormatProgram {
    /// The verb of the helper process.
    static let verb = "format-worker"

    private static let helpers = FormatHelpers(program: "/proc/self/exe", arguments: [verb])

    /// The engine's judge. A file that could not be examined never counts as complete; a file whose format cannot tell
    /// is.
    static let judge: FormatJudge = { @Sendable file, seconds, isStopped in
        do throws(FormatFailure) {
            let verdict = try helpers.verdict(on: file, seconds: seconds, unless: isStopped)
            switch verdict {
            case .whole, .unclear, .unknown: return .whole
            case .lacks: return .lacks(verdict.lack ?? "")
            case .unreadable(let errno): return .undetermined("it cannot be read: \(Errno(rawValue: errno))")
            }
        } catch {
            return error.isOfTime ? nil : .undetermined(error.text)
        }
    }
}

import Completeness
import PipelineKit
package import Readiness
import SystemPackage

/// The program that looks whether files are whole by their formats: this one, in processes of its own.
package final class FormatProgram: Sendable {
    private let helpers: FormatHelpers

    /// This program, for the whole of its life.
    package static let own = FormatProgram("/proc/self/exe", [verb])

    /// This program, as long as anyone holds it.
    static let helper = HelperProgram(verb, serve: { FormatWorker.run() }, make: { FormatProgram($0, $1) })

    private static let verb = "format-worker"

    private init(_ program: FilePath, _ arguments: [String]) {
        helpers = FormatHelpers(program: program, arguments: arguments)
    }

    /// The engine's judge. A file that could not be examined never counts as complete; a file whose format cannot tell
    /// is.
    package var judge: FormatJudge {
        { @Sendable [helpers] file, seconds, isStopped in
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

    /// Why a pipeline that goes by formats cannot run where there is none.
    static let missing = Failure(
        .environment, code: "format.no-program", summary: "No program that reads formats is set.",
        remedy: "Call `helperMain` first thing in `main`.")
}

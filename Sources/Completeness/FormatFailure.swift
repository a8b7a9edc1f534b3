import Helpers
import SystemPackage

/// Why a file could not be looked at: a sentence without its stop.
package struct FormatFailure: Error, Sendable, Equatable {
    package let text: String
    /// Whether more time would help.
    package let isOfTime: Bool

    init(_ failure: FileHelpers.Failure) {
        isOfTime =
            switch failure {
            case .overTime, .overCPU: true
            default: false
            }
        text =
            switch failure {
            case .unavailable(let errno): "the process that checks it cannot be started (\(errno))"
            case .unconfined(let what): "the process that checks it cannot be confined (\(what))"
            case .crashed(let signal, _, _) where signal > 0:
                "the process that checked it was killed by signal \(signal)"
            case .crashed: "the process that checked it exited early"
            case .overTime(let seconds): "checking it took longer than \(seconds) s"
            case .overCPU: "checking it took too much CPU time"
            case .confused: "the process that checked it gave an invalid answer"
            case .cancelled: "the check was cancelled"
            }
    }
}

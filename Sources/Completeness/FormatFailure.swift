import Helpers
import SystemPackage

/// Why a file could not be looked at: a sentence without its stop.
package struct FormatFailure: Error, Sendable, Equatable {
    /// The sentence.
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
            case .unavailable(let errno): "the process that looks at it cannot be started (\(errno))"
            case .unconfined(let what): "the process that looks at it cannot be confined (\(what))"
            case .crashed(let signal, _, _) where signal > 0:
                "the process that looked at it was ended by signal \(signal)"
            case .crashed: "the process that looked at it broke off"
            case .overTime(let seconds): "it took longer than \(seconds) s to look at"
            case .overCPU: "it took too much computing to look at"
            case .confused: "the process that looked at it said what none says"
            case .cancelled: "the look was called off"
            }
    }
}

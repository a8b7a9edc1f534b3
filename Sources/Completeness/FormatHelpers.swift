import Helpers
package import SystemPackage

/// Helpers that look whether files are whole.
package final class FormatHelpers: Sendable {
    /// The most seconds that a file may take.
    package static let secondsPerFile: Int64 = 60

    private let helpers: FileHelpers

    /// Helpers of a program that calls `FormatWorker.run` when it is given these arguments. `patience`: the
    /// milliseconds that it may take to make one before it is started anew.
    package init(program: FilePath, arguments: [String], patience: Int32 = 10_000) {
        helpers = FileHelpers(program: program, arguments: arguments, patience: patience)
    }

    /// What the file says that a descriptor is open on. Blocks until it is told; whether to go on waiting is asked
    /// every 50 ms.
    package func verdict(
        on file: Int32, seconds: Int64 = secondsPerFile, unless isStopped: () -> Bool = { false }
    ) throws(FormatFailure) -> Verdict {
        do throws(FileHelpers.Failure) {
            return try helpers.ask(about: file, seconds: seconds, unless: isStopped) { packet in
                Verdict(packet: packet).map { .init($0) }
            }
        } catch {
            throw FormatFailure(error)
        }
    }
}

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

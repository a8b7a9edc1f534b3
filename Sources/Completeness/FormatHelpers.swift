import Helpers
package import SystemPackage

/// Helpers that look whether files are whole.
package final class FormatHelpers: Sendable {
    /// The most seconds that a file may take.
    package static let secondsPerFile: Int64 = 60

    private let helpers: FileHelpers

    /// Helpers of a program that calls `FormatWorker.run` when it is given these arguments. `patience`: the
    /// milliseconds that it may take to make one before it is restarted.
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

import Archive
import PipelineKit
import Synchronization
package import SystemPackage

/// The program that unpacks archives: which one that is, only the top of the house knows, and says it before the first
/// stage runs.
package enum UnpackProgram {
    private static let state = Mutex(State())

    private struct State {
        var helpers: UnpackHelpers?
        var hasSaidUnconfined = false
    }

    /// Names a program that unpacks (`UnpackWorker.run`) when it is started with these arguments.
    package static func use(_ program: FilePath, _ arguments: [String]) {
        let helpers = UnpackHelpers(program: program, arguments: arguments)
        state.withLock { $0.helpers = helpers }
    }

    /// Unpacks for the daemon that started this process, in copies of it, until that goes.
    package static func run() -> Never { UnpackWorker.run() }

    static func helpers() throws(StageFailure) -> UnpackHelpers {
        if let helpers = state.withLock({ $0.helpers }) { return helpers }
        throw StageFailure(
            .environment, code: "unpack.no-program", summary: "No program that unpacks archives was named.")
    }

    /// Says once for all that the kernel cannot confine helpers to their folder.
    static func noteConfinement(_ landlock: Int64, _ notes: StageNotes) {
        guard landlock <= 0 else { return }
        let isFirst = state.withLock { state in
            defer { state.hasSaidUnconfined = true }
            return !state.hasSaidUnconfined
        }
        guard isFirst else { return }
        let reason = Self.landlock(Errno(rawValue: Int32(clamping: -landlock)))
        notes.warn(
            "\(reason), so the process that unpacks is confined by its list of system calls alone "
                + "(require_sandbox: false)")
    }

    /// Why there is no Landlock.
    static func landlock(_ errno: Errno) -> String {
        switch errno {
        case .noFunction: "the kernel has no Landlock (Linux 5.13 and later can)"
        case .notSupportedOnSocket, .notSupported: "Landlock is switched off in this kernel"
        default: "\(UnpackWorker.noLandlock) is refused: \(errno)"
        }
    }
}

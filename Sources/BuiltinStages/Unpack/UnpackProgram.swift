import Archive
import PipelineKit
import Synchronization
public import SystemPackage

/// The program that unpacks archives. Only the executable knows which one that is, and passes it to stages among
/// their services.
public final class UnpackProgram: Sendable {
    let helpers: UnpackHelpers
    private let hasSaidUnconfined = Atomic(false)

    /// A program that unpacks (`UnpackWorker.run`) when it is started with these arguments.
    package init(_ program: FilePath, _ arguments: [String]) {
        helpers = UnpackHelpers(program: program, arguments: arguments)
    }

    /// A program that hands over to `helperMain` first thing, as `dropmill` does.
    public static func named(_ program: FilePath) -> UnpackProgram { UnpackProgram(program, [verb]) }

    private static let verb = "unpack-worker"

    /// This program, which unpacks for the one that started it, in copies of itself, until that goes.
    static let helper = HelperProgram(verb, serve: { UnpackWorker.run() }, make: { UnpackProgram($0, $1) })

    /// Why a stage that was given none cannot unpack.
    static let missing = Failure(
        .environment, code: "unpack.no-program", summary: "No program that unpacks archives is set.",
        remedy: "Call `helperMain` first thing in `main`, or add `UnpackProgram.named` to the registry's services.")

    /// Says once for all stages that the kernel cannot confine helpers to their folder.
    func noteConfinement(_ landlock: Int64, _ notes: StageNotes) {
        guard landlock <= 0, !hasSaidUnconfined.exchange(true, ordering: .relaxed) else { return }
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
        default: "\(UnpackWorker.noLandlock) is denied: \(errno)"
        }
    }
}

import FileTypes
import PipelineKit
public import SystemPackage

/// The program that runs libmagic. Only the executable knows which one that is, and passes it to
/// stages among their services.
public struct TypeProgram: Sendable {
    let helpers: TypeHelpers

    /// A program that tells types (`TypeWorker.run`) when it is started with these arguments: once the first file is
    /// asked about.
    package init(_ program: FilePath, _ arguments: [String]) {
        helpers = TypeHelpers(program: program, arguments: arguments)
    }

    /// A program that hands over to `helperMain` first thing, as `dropmill` does.
    public static func named(_ program: FilePath) -> TypeProgram { TypeProgram(program, [verb]) }

    private static let verb = "type-worker"

    /// This program, which tells types for the one that started it, in copies of itself, until that goes.
    static let helper = HelperProgram(verb, serve: { TypeWorker.run() }, make: { TypeProgram($0, $1) })

    /// Why a stage that was given none cannot tell types.
    static let missing = Failure(
        .environment, code: "type.no-program", summary: "No program that detects file types is set.",
        remedy: "Call `helperMain` first thing in `main`, or add `TypeProgram.named` to the registry's services.")
}

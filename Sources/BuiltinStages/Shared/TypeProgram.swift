import FileTypes
import PipelineKit
package import SystemPackage

/// The program that runs libmagic. Only the executable knows which one that is, and passes it to
/// stages among their services.
package struct TypeProgram: Sendable {
    let helpers: TypeHelpers

    /// A program that tells types (`TypeProgram.run`) when it is started with these arguments: once the first file is
    /// asked about.
    package init(_ program: FilePath, _ arguments: [String]) {
        helpers = TypeHelpers(program: program, arguments: arguments)
    }

    /// Tells types for the daemon that started this process, in copies of it, until that goes.
    package static func run() -> Never { TypeWorker.run() }

    /// Why a stage that was given none cannot tell types.
    static let missing = Failure(
        .environment, code: "type.no-program", summary: "No program that detects file types is set.")
}

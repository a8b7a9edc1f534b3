import FileTypes
import PipelineKit
import Synchronization
package import SystemPackage

/// The program that asks libmagic what files are: which one that is, only the top of the house knows, and says it
/// before the first stage runs.
package enum TypeProgram {
    private static let named = Mutex<TypeHelpers?>(nil)

    /// Names a program that tells types (`TypeProgram.run`) when it is started with these arguments. It is started when
    /// the first file is asked about.
    package static func use(_ program: FilePath, _ arguments: [String]) {
        let helpers = TypeHelpers(program: program, arguments: arguments)
        named.withLock { $0 = helpers }
    }

    /// Tells types for the daemon that started this process, in copies of it, until that goes.
    package static func run() -> Never { TypeWorker.run() }

    static func helpers() throws(StageFailure) -> TypeHelpers {
        if let helpers = named.withLock({ $0 }) { return helpers }
        throw StageFailure(
            .environment, code: "type.no-program", summary: "No program that tells files' types was named.")
    }
}

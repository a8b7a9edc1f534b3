import Helpers
package import SystemPackage

/// Helpers that tell what files are by their content.
package final class TypeHelpers: Sendable {
    /// The most seconds that a file may take, by default.
    package static let secondsPerFile: Int64 = 60

    private let helpers: FileHelpers

    /// Helpers of a program that calls `TypeWorker.run` when it is given these arguments. `patience`: the milliseconds
    /// that it may take to make one before it is restarted; `idleTime`: those after which one that nobody asks goes.
    package init(program: FilePath, arguments: [String], patience: Int32 = 10_000, idleTime: Int64 = 60_000) {
        helpers = FileHelpers(
            program: program, arguments: arguments, variables: ["MAGIC", "HOME"], patience: patience,
            idleTime: idleTime)
    }

    /// The type of the file that a descriptor is open on; its offset is moved. Blocks until it is told; whether to go
    /// on waiting is asked every 50 ms.
    package func type(
        of file: Int32, seconds: Int64 = secondsPerFile, unless isStopped: () -> Bool = { false }
    ) throws(TypeFailure) -> MediaType {
        let answer: Result<MediaType, TypeFailure>
        do throws(FileHelpers.Failure) {
            answer = try helpers.ask(about: file, seconds: seconds, unless: isStopped) { packet in
                switch TypeAnswer(packet: packet) {
                case .type(let text): MediaType(answer: text).map { .init(.success($0)) }
                case .problem(.content(let words)): .init(.failure(.content(words)))
                case .problem(.file(let errno)): .init(.failure(.unreadable(Errno(rawValue: errno))))
                // The next one is to have the rules that are there by then.
                case .problem(.unloaded(let words)): .init(.failure(.unloaded(words)), isSound: false)
                case nil: nil
                }
            }
        } catch {
            throw TypeFailure(error)
        }
        return try answer.get()
    }
}

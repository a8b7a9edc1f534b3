import Files
import PipelineKit
import SystemPackage

extension Failure {
    /// A failed system call while a payload is built in a folder of the stage's own: where names get in each other's
    /// way there, that is the payload's doing and no fault of the surroundings.
    init(building error: IOError) {
        self.init(inStage: error)
        let ofNames: [Errno] = [
            .fileExists, .notDirectory, .isDirectory, .fileNameTooLong, .tooManySymbolicLinkLevels,
        ]
        guard ofNames.contains(error.errno) else { return }
        `class` = .file
        remedy = "Rename the payload's files so that they do not conflict, and drop it again."
    }

    /// Does something to files, and turns a failed system call into the stage's failure.
    static func onIOError<Result: ~Copyable>(_ body: () throws(IOError) -> Result) throws(Failure) -> Result {
        do throws(IOError) {
            return try body()
        } catch {
            throw Failure(inStage: error)
        }
    }
}

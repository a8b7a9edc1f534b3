import PipelineKit

extension StageFailure {
    /// Does something to files, and turns a failed system call into the stage's failure.
    static func onIOError<Result: ~Copyable>(_ body: () throws(IOError) -> Result) throws(StageFailure) -> Result {
        do throws(IOError) {
            return try body()
        } catch {
            throw StageFailure(inStage: error)
        }
    }
}

import SystemPackage

/// A number of jobs that are alike.
package struct JobCount: Sendable, Hashable {
    /// The pipeline's name.
    package var pipeline: String
    /// Their state.
    package var state: JobRecord.State
    /// Their stage's place; 0 for finished jobs.
    package var stage: Int
    package var count: Int

    package init(pipeline: String, state: JobRecord.State, stage: Int, count: Int) {
        self.pipeline = pipeline
        self.state = state
        self.stage = stage
        self.count = count
    }
}

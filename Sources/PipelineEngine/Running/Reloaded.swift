/// What a reload came to.
package struct Reloaded: Sendable, Equatable {
    /// What became of each pipeline.
    package let changes: [PipelineChange]
    /// What a person should see to.
    package var warnings: [String] = []

    package init(changes: [PipelineChange], warnings: [String] = []) {
        (self.changes, self.warnings) = (changes, warnings)
    }
}

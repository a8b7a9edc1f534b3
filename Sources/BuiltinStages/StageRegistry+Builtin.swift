package import PipelineKit

extension StageRegistry {
    /// The stage kinds that come with Dropmill, in the order they are shown.
    package static var builtin: StageRegistry { StageRegistry([]) }
}

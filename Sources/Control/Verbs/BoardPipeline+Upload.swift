package import PipelineKit

extension BoardPipeline.Upload {
    /// What may be sent in for a pipeline; nil: nothing.
    package init?(_ pipeline: Pipeline) {
        guard let most = pipeline.largestUpload, pipeline.ready.unit == .file else { return nil }
        self.init(
            most: most.bytes, match: pipeline.match.include.filter { $0 != .everything }.map(\.pattern),
            folders: pipeline.match.depth > 1 ? .asFiles : .no)
    }
}

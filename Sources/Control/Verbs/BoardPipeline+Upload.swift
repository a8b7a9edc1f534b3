package import PipelineKit

extension BoardPipeline.Upload {
    /// What may be sent in for a pipeline; nil: nothing.
    package init?(_ pipeline: Pipeline) {
        guard let most = pipeline.largestUpload else { return nil }
        let folders: Folders =
            switch pipeline.ready.unit {
            case .folder: .asOne
            case .file: pipeline.match.depth > 1 ? .asFiles : .no
            }
        self.init(
            most: most.bytes, match: pipeline.match.include.filter { $0 != .everything }.map(\.pattern),
            folders: folders, depth: pipeline.match.depth == .max ? nil : pipeline.match.depth)
    }
}

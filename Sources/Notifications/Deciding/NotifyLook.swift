package import Journal
package import PipelineKit

/// How things are at one moment, as far as messages tell of it.
package struct NotifyLook: Sendable {
    /// The names of those that are loaded.
    package var pipelines: [String]
    /// What has become of their jobs; nil where that cannot be read.
    package var figures: [String: Figures]?
    /// What trouble there is, by pipeline (empty: the daemon), with the reason; of events that are known. One that is
    /// not may be there or not.
    package var troubles: [NotifyEvent: [String: String]]

    package init(
        pipelines: [String], figures: [String: Figures]? = nil, troubles: [NotifyEvent: [String: String]] = [:]
    ) {
        (self.pipelines, self.figures, self.troubles) = (pipelines, figures, troubles)
    }
}

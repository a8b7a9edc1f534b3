package import PipelineKit

/// How an engine is, as its own queue knows it.
package struct EngineHealth: Sendable {
    package var pipelines = 0
    /// Jobs that are not over.
    package var jobs = 0
    /// Why trouble pauses pipelines, by their names.
    package var paused: [String: Failure] = [:]
}

package import PipelineKit

/// How an engine is, as its own queue knows it.
package struct EngineHealth: Sendable {
    package var pipelines = 0
    package var isStopping = false
    /// Jobs that are not over.
    package var jobs = 0
    /// Drops that wait in inboxes, as they were counted last.
    package var waiting = 0
    /// Why trouble pauses pipelines, by their names.
    package var paused: [String: Failure] = [:]
    /// In which pipelines something does not move.
    package var stalled: [String: Stall] = [:]
    /// How many pipelines trouble or a person holds.
    package var held = 0

    /// `3 pipelines: 2 jobs at work, 120 wait, 1 paused`; `no pipeline is loaded`.
    package var text: String {
        guard pipelines + jobs > 0 else { return "no pipeline is loaded" }
        var text = "\(pipelines) pipeline\(pipelines == 1 ? "" : "s"): "
        text += "\(jobs) job\(jobs == 1 ? "" : "s") at work, \(waiting) wait"
        if held > 0 { text += ", \(held) paused" }
        return stalled.isEmpty ? text : text + ", \(stalled.count) stalled"
    }
}

package import Files
package import PipelineKit

/// A job that the journal keeps no longer, and when it ended.
package struct ExpiredJob: Sendable, Equatable {
    package var id: JobID
    package var at: Timestamp

    package init(_ id: JobID, at time: Timestamp) { (self.id, at) = (id, time) }
}

/// Something that people are told of.
package enum NotifyEvent: String, Sendable, Hashable, CaseIterable {
    /// Jobs failed.
    case failed
    /// Trouble with the surroundings pauses a pipeline.
    case paused
    /// A pipeline goes on by itself.
    case resumed
    /// Something at work has not moved for long.
    case stalled
    /// The files that a reload read have problems.
    case reloadRefused = "reload-refused"
    /// A file system that a pipeline writes to has less than twice `min_free`.
    case diskLow = "disk-low"
    /// Files or history could not be removed that are older than is to be kept.
    case retentionFailed = "retention-failed"
    /// Nothing was processed for long.
    case quiet

    /// Whether it is something that begins and ends, rather than something that happens.
    package var lasts: Bool { self != .failed && self != .resumed }

    /// Whether it is about the daemon and not about a pipeline.
    package var isOfDaemon: Bool { self == .reloadRefused }
}

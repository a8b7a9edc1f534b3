public import Files
import SystemPackage

/// What an engine did until it stopped.
public struct RunSummary: Sendable, Hashable {
    /// Jobs that succeeded.
    public package(set) var processed = 0
    /// Jobs that failed.
    public package(set) var failed = 0
    /// Jobs that were not over and wait in their work folders for the next start.
    public package(set) var unfinished = 0
    /// With `once`: drops that stayed in their inboxes, with the reason.
    public package(set) var remaining: [Remaining] = []
    /// Pipelines that were paused at the end, by their names, with the reason.
    public package(set) var paused: [String: String] = [:]
    /// Pipelines that a person held at the end, by their names, with who, since when and why.
    public package(set) var held: [String: String] = [:]

    /// Counts jobs of another part of the run, too.
    mutating func add(_ other: RunSummary) {
        processed += other.processed
        failed += other.failed
    }

    /// A drop that stayed.
    public struct Remaining: Sendable, Hashable {
        /// The pipeline's name.
        public let pipeline: String
        /// Where it lies in the inbox.
        public let path: DropPath
        /// Why: `still being written`.
        public let reason: String
        /// Whether it needs attention: what came with it contradicts it.
        package var isContradicted = false
    }
}

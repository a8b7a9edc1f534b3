package import Files
import SystemPackage

/// What an engine did until it stopped.
package struct RunSummary: Sendable {
    /// Jobs that succeeded.
    package var processed = 0
    /// Jobs that failed.
    package var failed = 0
    /// Jobs that were not over and wait in their work folders for the next start.
    package var unfinished = 0
    /// With `once`: drops that stayed in their inboxes, with the reason.
    package var remaining: [Remaining] = []
    /// Pipelines that were paused at the end, with the reason.
    package var paused: [(pipeline: String, reason: String)] = []

    /// A drop that stayed.
    package struct Remaining: Sendable {
        package let pipeline: String
        /// Where it lies in the inbox.
        package let path: DropPath
        /// Why: `still being written`.
        package let reason: String
        /// Whether it needs attention: what came with it contradicts it.
        package var isContradicted = false
    }
}

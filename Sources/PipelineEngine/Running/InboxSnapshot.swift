@preconcurrency import Dispatch
package import FolderWatch
package import PipelineKit
import Synchronization

/// What is in one inbox at one moment.
package struct InboxSnapshot: Sendable {
    /// How it is watched; nil where it is not.
    package var watching: WatchMode?
    /// How many drops wait.
    package var waiting = 0
    /// Those of them that are complete and wait for room, or for the pipeline: how many, and their bytes.
    package var complete = 0
    package var completeBytes: Int64 = 0
    /// Those of them that are known for longest, as many as were asked for.
    package var longest: [WaitingDrop] = []
    /// How long the one is known that is known for longest; nil where none waits.
    package var oldest: Duration?
    /// How many files are left alone: refused as they are.
    package var leftCount = 0
    /// How many are left alone besides, since no pattern takes their names; as many as are kept.
    package var untaken = 0
    /// Some of those that are refused.
    package var left: [WaitingDrop] = []
    /// Why nothing is claimed; nil where that is not so.
    package var paused: Failure?
}

import PipelineKit
import SystemPackage

/// How an inbox is watched.
package enum WatchMode: Sendable, Equatable {
    /// The kernel tells what happens (inotify(7)), and a scan now and then makes sure.
    case events
    /// A scan every so often, since the kernel does not tell.
    case polling(every: Duration)
}

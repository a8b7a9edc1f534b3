import SystemPackage

/// How an inbox is watched.
package enum WatchMode: Sendable, Equatable {
    /// inotify(7) events, with occasional scans to make sure.
    case events
    /// Regular scans, since the kernel does not report all changes.
    case polling(every: Duration)
}

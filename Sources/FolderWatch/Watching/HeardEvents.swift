import Synchronization

/// Events that were heard and wait for the watcher's queue. More than can be handled are as good as lost ones.
final class HeardEvents: Sendable {
    private let events = Mutex<[WatchEvent]>([])
    /// As many as the kernel itself keeps (fs.inotify.max_queued_events).
    private static let most = 16_384

    /// Adds events; whether they are to be taken, since none were waiting.
    func add(_ new: [WatchEvent]) -> Bool {
        events.withLock { events in
            let wasEmpty = events.isEmpty
            if events.count + new.count > Self.most {
                events = [.overflow]
            } else if wasEmpty {
                events = new
            } else {
                events += new
            }
            return wasEmpty
        }
    }

    /// All that wait.
    func take() -> [WatchEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}

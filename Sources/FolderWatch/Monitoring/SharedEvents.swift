import Synchronization

/// The kernel's events for all monitors of the process, as long as there is one: inotify gives a user few instances.
enum SharedEvents {
    private struct Shared {
        let events: any FolderEvents
        var users: Int
    }

    private static let shared = Mutex<[SystemEvents.Kind: Shared]>([:])

    /// Events that are open until `giveBack`. Where there are none, each asks again.
    static func take(_ kind: SystemEvents.Kind) -> any FolderEvents {
        shared.withLock { all in
            if let known = all[kind] {
                all[kind]?.users += 1
                return known.events
            }
            let events = SystemEvents.open(kind)
            if events.lack == nil { all[kind] = Shared(events: events, users: 1) }
            return events
        }
    }

    /// When nobody uses them any more, all their descriptors are closed when this returns.
    static func giveBack(_ events: any FolderEvents, _ kind: SystemEvents.Kind) {
        guard events.lack == nil else { return }
        shared.withLock { all in
            guard let users = all[kind]?.users else { return }
            all[kind]?.users = users - 1
            guard users == 1 else { return }
            all[kind] = nil
            events.stop()
        }
    }

    /// Those that are open: for tests.
    static func current(_ kind: SystemEvents.Kind) -> (any FolderEvents)? { shared.withLock { $0[kind]?.events } }
}

@preconcurrency import Dispatch
import Files
import PipelineKit
import Synchronization
import SystemPackage

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

/// A watcher with what it said.
final class WatcherHarness: Sendable {
    private struct Heard {
        var changes: [InboxChange] = []
        var initial = 0
        var modes: [WatchMode] = []
        var reasons: [String] = []
        var failures: [String] = []
        var recoveries = 0
        var scans = 0
        var refused: [String] = []
    }

    private let heard = Mutex(Heard())
    private let executor = QueueExecutor(label: "test.watcher")
    private let watcher: Mutex<InboxWatcher?> = Mutex(nil)

    init(
        _ inbox: FilePath, _ inotify: (any FolderEvents)?, depth: Int = 1, deepest: Int = .max,
        pace: InboxWatcher.Pace = .untimed,
        check: @escaping @Sendable () throws(WatchError) -> Void = {}
    ) {
        let listener = InboxWatcher.Listener(
            changed: { @Sendable [self] changes in heard.withLock { $0.changes += changes } },
            scanned: { @Sendable [self] isInitial in
                heard.withLock { heard in
                    heard.scans += 1
                    if isInitial { heard.initial += 1 }
                }
            },
            refused: { @Sendable [self] path, reason in heard.withLock { $0.refused.append("\(path.text): \(reason)") }
            },
            watching: { @Sendable [self] mode, reason in
                heard.withLock { heard in
                    heard.modes.append(mode)
                    if let reason { heard.reasons.append(reason) }
                }
            },
            failed: { @Sendable [self] failure in heard.withLock { $0.failures.append(Failure(failure).code) } },
            recovered: { @Sendable [self] in heard.withLock { $0.recoveries += 1 } })
        let made = InboxWatcher(
            inbox: inbox, selection: InboxSelection(MatchRule(depth: depth)), deepest: deepest,
            events: inotify ?? NoEvents(because: SystemEvents.Kind.inotify.lack),
            executor: executor,
            pace: pace, listener: listener, check: check)
        watcher.withLock { $0 = made }
    }

    var changes: [InboxChange] { heard.withLock { $0.changes } }
    var modes: [WatchMode] { heard.withLock { $0.modes } }
    var reasons: [String] { heard.withLock { $0.reasons } }
    var failures: [String] { heard.withLock { $0.failures } }
    var recoveries: Int { heard.withLock { $0.recoveries } }
    var scans: Int { heard.withLock { $0.scans } }
    var refused: [String] { heard.withLock { $0.refused } }
    var initialListings: Int { heard.withLock { $0.initial } }

    func start() { watcher.withLock { $0 }?.sync { $0.start() } }
    func stop() { watcher.withLock { $0 }?.sync { $0.stop() } }
    func scan() { watcher.withLock { $0 }?.sync { $0.scan() } }
    /// Changes as text: what appeared with `+`, changed with `~`, vanished with `-`; in order of the paths.
    var told: [String] {
        changes.map { change in
            switch change {
            case .appeared(let path): "+\(path)"
            case .changed(let path): "~\(path)"
            case .vanished(let path): "-\(path)"
            }
        }.sorted()
    }

    /// The paths that are there by all that was told.
    var known: Set<String> {
        changes.reduce(into: []) { known, change in
            switch change {
            case .appeared(let path), .changed(let path): known.insert(path.text)
            case .vanished(let path): known.remove(path.text)
            }
        }
    }

    func forgetHeard() { heard.withLock { $0.changes = [] } }
}

extension InboxWatcher.Pace {
    /// Nothing is done because some time is over, however slow the machine is.
    static let untimed: Self = {
        var pace = Self()
        pace.rescan = .seconds(3600)
        pace.poll = .seconds(3600)
        pace.pulse = .seconds(3600)
        return pace
    }()
}

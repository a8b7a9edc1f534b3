import Files
import Journal
import PipelineKit
import Synchronization
import SystemPackage

/// An outbox in memory, with jobs that end as a test wants. What is in it outlives those that use it.
final class FakeOutbox: Outbox {
    private struct State {
        var notices: [String: Notice] = [:]
        var standings: [NoticeStanding.Key: NoticeStanding] = [:]
        var figures: [String: Figures] = [:]
        var failed: [(pipeline: String, at: Timestamp, isOpen: Bool)] = []
        var isBroken = false
        var changes = 0
        var counted: [Timestamp] = []
        var ids = JobIDGenerator()
    }

    private let state = Mutex(State())

    /// Whether nothing can be written.
    var isBroken: Bool {
        get { state.withLock { $0.isBroken } }
        set { state.withLock { $0.isBroken = newValue } }
    }
    var notices: [Notice] { state.withLock { Array($0.notices.values) } }
    var standings: [NoticeStanding] { state.withLock { Array($0.standings.values) } }
    /// After which times all failures were counted.
    var counted: [Timestamp] { state.withLock { $0.counted } }
    var changes: Int { state.withLock { $0.changes } }

    /// A job of this pipeline is over; nil: it was processed.
    func end(_ pipeline: String, _ code: String? = nil, at time: Timestamp) {
        state.withLock { state in
            let name = FileName(unchecked: Array("a.zip".utf8))
            let job = Job(
                id: state.ids.next(), pipeline: pipeline,
                drop: Drop(name: name, folders: [], size: 1, droppedAt: time), claimedAt: time, folder: "/x")
            var record = JobRecord(claimed: job, identity: FileIdentity(device: 1, inode: 1), definition: "")
            record.state = code == nil ? .processed : .failed
            record.finishedAt = time
            record.failure = code.map { .file($0, "It is damaged.", remedy: "Send it again.") }
            state.figures[pipeline, default: Figures()].add(record)
            if code != nil { state.failed.append((pipeline, time, true)) }
        }
    }

    /// All that failed was sent in again, and processed.
    func mend(_ pipeline: String) {
        state.withLock { state in
            for index in state.failed.indices where state.failed[index].pipeline == pipeline {
                state.failed[index].isOpen = false
            }
        }
    }

    func outbox() throws(JournalError) -> (notices: [Notice], standings: [NoticeStanding], unreadable: Int) {
        state.withLock { state in
            (state.notices.values.sorted { $0.since < $1.since }, Array(state.standings.values), 0)
        }
    }

    func change(_ change: OutboxChange) throws(JournalError) {
        let isBroken = state.withLock { state in
            guard !state.isBroken else { return true }
            if !change.isEmpty { state.changes += 1 }
            for id in change.removed { state.notices[id] = nil }
            for notice in change.notices { state.notices[notice.id] = notice }
            for key in change.forgotten { state.standings[key] = nil }
            for standing in change.standings { state.standings[standing.key] = standing }
            return false
        }
        if isBroken { throw JournalError(.environment, "The disk is full.") }
    }

    func figures() throws(JournalError) -> [String: Figures] { state.withLock { $0.figures } }

    func failures(of pipeline: String, after time: Timestamp) throws(JournalError) -> RecentFailures {
        state.withLock { state in
            var found = RecentFailures()
            let open = state.failed.filter { $0.pipeline == pipeline && $0.isOpen }
            found.open = UInt64(open.count { $0.at > time })
            found.last = open.map(\.at).max()
            return found
        }
    }

    func failureCount(of pipeline: String, after time: Timestamp) throws(JournalError) -> UInt64 {
        state.withLock { state in
            state.counted.append(time)
            return UInt64(state.failed.count { $0.pipeline == pipeline && $0.at > time })
        }
    }
}

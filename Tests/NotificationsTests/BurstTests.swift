import Files
import Journal
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Notifications
@testable import SQLiteJournal

/// The same with the journal itself.
@Suite struct BurstTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func failed(_ ids: JobIDGenerator, at time: Timestamp) -> JobRecord {
        let drop = Drop(name: FileName(unchecked: Array("a.zip".utf8)), size: 1, droppedAt: time)
        let job = Job(id: ids.next(), pipeline: "press", drop: drop, claimedAt: time, folder: "/work")
        var record = JobRecord(claimed: job, identity: FileIdentity(device: 7, inode: 1), definition: "abc")
        (record.state, record.finishedAt) = (.failed, time)
        record.failure = .file("archive.damaged", "It is damaged.", remedy: "Send it again.")
        return record
    }

    @Test func aBurstCostsNoRowsOfItsOwn() throws {
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
        defer { journal.close() }
        let sender = NotifierFixture.Sender { @Sendable in .now() }
        var world = NotifyWorld(look: { @Sendable _ in NotifyLook(pipelines: ["press"]) })
        let now = TestClock()
        world.now = { @Sendable in now.value }
        let notifier = Notifier(journal, world, sender, isStanding: false)
        notifier.begin([NotifierFixture.rule([.failed])])
        let ids = JobIDGenerator()
        now.pass(.seconds(1))
        for _ in 0..<50 {
            try journal.write((0..<50).map { _ in failed(ids, at: now.value) }, pipelines: [])
            notifier.turnNow()
            now.pass(.seconds(12))
            let (notices, standings, _) = try journal.outbox()
            #expect(notices.isEmpty && standings.count == 1)
        }
        now.pass(.seconds(300))
        notifier.turnNow()
        let counts = sender.arrived.withLock { $0.map(\.notice.count) }
        #expect(counts == [50, 1250, 1200], "\(counts)")
        #expect(sender.arrived.withLock { $0[0].notice.text.contains("The newest, a.zip: It is damaged.") })
    }
}

/// A clock of the test's own.
private final class TestClock: Sendable {
    private let now = Mutex(Timestamp.now())

    var value: Timestamp { now.withLock { $0 } }

    func pass(_ time: Duration) { now.withLock { $0 = $0.advanced(by: time) } }
}

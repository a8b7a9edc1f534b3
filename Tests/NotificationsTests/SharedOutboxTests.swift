import Files
import Journal
import PipelineKit
import Synchronization
import Testing

@testable import Notifications

/// Several daemons with one outbox.
@Suite struct SharedOutboxTests {
    /// Whose turn it is.
    private final class Turn: Sendable {
        let seat = Mutex(0)
    }

    private struct Seat: Outbox {
        let number: Int
        let turn: Turn
        let shared: FakeOutbox

        func mayTell() -> Bool { turn.seat.withLock { $0 == number } }
        func outbox() throws(JournalError) -> (notices: [Notice], standings: [NoticeStanding], unreadable: Int) {
            try shared.outbox()
        }
        func change(_ change: OutboxChange) throws(JournalError) { try shared.change(change) }
        func figures() throws(JournalError) -> [String: Figures] { try shared.figures() }
        func failures(of pipeline: String, after time: Timestamp) throws(JournalError) -> RecentFailures {
            try shared.failures(of: pipeline, after: time)
        }
        func failureCount(of pipeline: String, after time: Timestamp) throws(JournalError) -> UInt64 {
            try shared.failureCount(of: pipeline, after: time)
        }
    }

    @Test func oneTellsAndAnotherGoesOnWithWhatItLeft() {
        let (fixture, turn) = (NotifierFixture(), Turn())
        let rules = [NotifierFixture.rule([.failed])]
        let senders = (0..<2).map { _ in fixture.sender() }
        let notifiers = (0..<2).map { number in
            fixture.start(rules, senders[number], Seat(number: number, turn: turn, shared: fixture.outbox))
        }
        func turnBoth() {
            for notifier in notifiers { notifier.turnNow() }
            fixture.pass(.seconds(30))
        }
        func counts() -> [UInt64] { senders.map { $0.arrived.withLock { $0.reduce(0) { $0 + $1.notice.count } } } }
        turnBoth()
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        for _ in 0..<20 { turnBoth() }
        #expect(counts() == [1, 0])
        // It cannot send, and ends.
        senders[0].isDown.withLock { $0 = true }
        for _ in 0..<3 { fixture.outbox.end("press", "archive.damaged", at: fixture.now) }
        for _ in 0..<20 { turnBoth() }
        #expect(counts() == [1, 0] && fixture.outbox.notices.count == 1)
        turn.seat.withLock { $0 = 1 }
        for _ in 0..<40 { turnBoth() }
        #expect(counts() == [1, 3] && fixture.outbox.notices.isEmpty)
        // It comes back, and does not tell that once more.
        senders[0].isDown.withLock { $0 = false }
        turn.seat.withLock { $0 = 0 }
        for _ in 0..<20 { turnBoth() }
        #expect(counts() == [1, 3])
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        for _ in 0..<20 { turnBoth() }
        #expect(counts() == [2, 3])
    }
}

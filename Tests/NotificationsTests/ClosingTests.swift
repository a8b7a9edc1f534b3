import Files
import Synchronization
import TestSupport
import Testing

@testable import Notifications

/// The end of a run.
@Suite struct ClosingTests {
    private let fixture = NotifierFixture()

    /// A message that is being sent then has no more time than the end has.
    @Test func oneThatHangsHasTheTimeThatIsThereAtTheEnd() async {
        let sender = fixture.sender()
        sender.hangs.withLock { $0 = true }
        let notifier = fixture.start([NotifierFixture.rule([.failed])], sender)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        notifier.enqueue { $0.turn() }
        #expect(await eventually { sender.tries.withLock { $0 } == 1 })
        let began = MonotonicTime.now()
        let isOver = Mutex(false)
        notifier.close(last: .milliseconds(300)) { @Sendable in isOver.withLock { $0 = true } }
        #expect(await eventually { isOver.withLock { $0 } })
        #expect(MonotonicTime.now() - began < .seconds(10))
        #expect(fixture.outbox.notices.map(\.tries) == [0], "the next run sends it")
    }
}

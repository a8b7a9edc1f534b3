import Files
import PipelineKit
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

    private func rule(to recipient: String) -> NotifyRule {
        var target = NotifyTarget(.mail)
        target.recipients = [recipient]
        return NotifyRule(events: [.failed], target: target, digest: .seconds(300))
    }

    @Test func oneThatHangsHoldsUpNoOther() async {
        let sender = fixture.sender()
        sender.hangsFor.withLock { $0 = "slow" }
        let notifier = fixture.start([rule(to: "slow"), rule(to: "quick"), rule(to: "other")], sender)
        for round in 1...3 {
            fixture.outbox.end("press", "archive.damaged", at: fixture.now)
            notifier.sync { $0.turn() }
            #expect(await eventually { sender.arrived.withLock { $0.count } == 2 * round })
            #expect(await eventually { fixture.outbox.notices.count == 1 }, "what was sent is noted meanwhile")
            fixture.pass(.seconds(400))
        }
        #expect(sender.tries.withLock { $0 } == 7, "one of a rule at a time")
        let isOver = Mutex(false)
        notifier.close(last: nil) { @Sendable in isOver.withLock { $0 = true } }
        #expect(await eventually { isOver.withLock { $0 } })
        #expect(fixture.outbox.notices.map(\.tries) == [0], "the next run sends it")
    }

    /// A reload gives a message that is on its way to the rule in the place of its own, and it is sent once.
    @Test func aMessageOnItsWayIsNotSentByAnotherRule() async {
        let sender = fixture.sender()
        sender.hangsFor.withLock { $0 = "slow" }
        let notifier = fixture.start([rule(to: "slow")], sender)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        notifier.sync { $0.turn() }
        #expect(await eventually { sender.tries.withLock { $0 } == 1 })
        notifier.use([rule(to: "quick")])
        notifier.sync { $0.turn() }
        #expect(sender.tries.withLock { $0 } == 1)
        notifier.close(last: nil) { @Sendable in }
        notifier.settle()
        #expect(fixture.outbox.notices.count == 1 && sender.arrived.withLock { $0.isEmpty })
    }
}

import Control
import Synchronization
import TestSupport
import Testing

@testable import DropmillCommand

/// Changes in order, with numbers to go on from; nothing is kept for nobody.
@Suite(.timeLimit(.minutes(5))) struct ControlFeedTests {
    private let feed = ControlFeed(run: "this")

    private func note(_ name: String) {
        feed.note { .init(number: 0, at: 1, event: name, message: name) }
    }

    private func ask(after: UInt64? = nil, run: String? = nil, wait: Double = 0) async -> ControlFeed.Answer {
        await withCheckedContinuation { answered in
            feed.answer(.init(after: after, run: run, wait: wait)) { @Sendable in answered.resume(returning: $0) }
        }
    }

    @Test func whileNobodyListensChangesAreCountedAndNotBuilt() async {
        feed.note {
            Issue.record("nobody wants it")
            return .init(number: 0, at: 1, event: "a", message: "a")
        }
        #expect(await ask() == .init(run: "this", last: 1, missed: false, changes: []))
    }

    @Test func oneThatWaitsIsAnsweredByTheNextChange() async {
        let told = Mutex<[ControlFeed.Answer]>([])
        feed.answer(.init(wait: 30)) { @Sendable answer in told.withLock { $0.append(answer) } }
        #expect(told.withLock { $0.isEmpty })
        note("a")
        #expect(told.withLock { $0.map { $0.changes.map(\.event) } } == [["a"]])
        #expect(told.withLock { $0.map(\.last) } == [1])
        note("b")
        note("c")
        let answer = await ask(after: 1, run: "this")
        #expect(answer.changes.map(\.event) == ["b", "c"] && answer.changes.map(\.number) == [2, 3])
        #expect(answer.last == 3 && !answer.missed)
        #expect(await ask(after: 3, run: "this") == .init(run: "this", last: 3, missed: false, changes: []))
    }

    @Test func whoAsksWaitsLongerThanTheAnswerMayTake() {
        #expect(Duration.seconds(SubscribeVerb.patience) > SubscribeVerb.longestWait)
        #expect(Duration.seconds(SendingVerb.patience) > SendingVerb.longestWait)
    }

    @Test func whatCannotBeGoneOnFromIsSaid() async {
        _ = await ask()
        for _ in 0...ControlFeed.most { note("a") }
        #expect(await ask(after: 0, run: "this").missed, "more than is kept")
        #expect(await ask(after: 1, run: "this").changes.count == ControlFeed.most)
        #expect(await ask(after: 5, run: "another").missed)
        #expect(await ask(after: 1_000_000, run: "this").missed)
    }
}

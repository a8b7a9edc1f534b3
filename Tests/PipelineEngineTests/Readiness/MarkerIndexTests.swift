import PipelineKit
import Testing

@testable import PipelineEngine

@Suite("MarkerIndex") struct MarkerIndexTests {
    private func seconds(_ count: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(count) * 1_000_000_000) }

    @Test("A marker that comes late wakes its drops; one that goes does too")
    func wakes() {
        var index = MarkerIndex<String>(timeout: nil)
        index.appeared(drop: "a", of: "a.ok")
        index.appeared(drop: "a.pdf", of: "a.ok")
        #expect(index.appeared("a.ok", at: seconds(1)) == ["a", "a.pdf"])
        #expect(index.isShared("a.ok", besides: "a"))
        #expect(["a", "a.pdf"].contains(index.drop(of: "a.ok")))
        #expect(index.vanished("a.ok") == ["a", "a.pdf"])
    }

    @Test("One that is alone for too long is told of once, and not if its drop came meanwhile")
    func alone() {
        var index = MarkerIndex<String>(timeout: .seconds(10))
        #expect(index.appeared("a.ok", at: seconds(0)).isEmpty)
        #expect(index.appeared("b.ok", at: seconds(1)).isEmpty)
        index.appeared(drop: "b", of: "b.ok")
        #expect(index.nextDue == seconds(10))
        #expect(index.overdue(at: seconds(9)).isEmpty)
        #expect(index.overdue(at: seconds(60)) == ["a.ok"])
        #expect(index.overdue(at: seconds(600)).isEmpty)
        // Its drop was taken away by hand: alone again, from then on.
        index.vanished(drop: "b", of: "b.ok", at: seconds(700))
        #expect(index.overdue(at: seconds(709)).isEmpty)
        #expect(index.overdue(at: seconds(710)) == ["b.ok"])
    }

    @Test("A marker that can speak for one drop only is alone without that one, and wakes it")
    func onlyDrop() {
        var index = MarkerIndex<String>(timeout: .seconds(10))
        let woken = index.appeared("a.ok", with: "a", at: seconds(0))
        #expect(woken == ["a"])
        #expect(!index.isAlone("a.ok") && index.nextDue == nil)
        index.vanished(drop: "a", of: "a.ok", isOnly: true, at: seconds(1))
        #expect(index.isAlone("a.ok"))
        index.appeared(drop: "a", of: "a.ok", isOnly: true)
        #expect(!index.isAlone("a.ok") && !index.isShared("a.ok", besides: "a"))
        let overdue = index.overdue(at: seconds(60))
        #expect(overdue.isEmpty)
        let left = index.vanished("a.ok", with: "a")
        #expect(left == ["a"])
    }

    @Test("Without a time of its own it is patient for ten minutes")
    func patience() {
        var index = MarkerIndex<String>(timeout: nil)
        _ = index.appeared("a.ok", at: seconds(0))
        #expect(index.nextDue == seconds(600))
    }
}

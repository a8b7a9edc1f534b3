import Dispatch
import Files
import Testing

/// Who waits for something only so long.
@Suite struct AttemptTests {
    @Test func isOverInTime() {
        let attempt = Attempt<Int>()
        DispatchQueue(label: "attempt").async { @Sendable in attempt.end(with: 1) }
        #expect(attempt.wait(until: .now() + 60) == 1)
    }

    @Test func whoEndsLateIsTold() {
        let attempt = Attempt<Int>()
        #expect(attempt.wait(until: .now()) == nil)
        #expect(!attempt.end(with: 1))
        #expect(attempt.wait(until: .now()) == nil)
    }

    @Test func nobodyWaitsYet() {
        let attempt = Attempt<Int>()
        #expect(attempt.end(with: 1))
        #expect(attempt.wait(until: .now()) == 1)
    }
}

import Files
import Testing

@testable import PipelineEngine

/// How old drops are that wait.
@Suite("Waits") struct WaitTests {
    private static let day = 24 * 3600

    /// Seconds that one has waited that was seen 50 s after the machine began, and is looked at 10 s later, at the end
    /// of 2026's first day.
    private func wait(began: Int64?, changed: Int) -> Int64 {
        func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
        let time = Timestamp(seconds: Self.now, nanoseconds: 0)
        let wait = Wait(
            seen: at(50), began: began.map { at($0) }, changed: FileTime(seconds: changed, nanoseconds: 0))
        return (at(60) - wait.since(at: at(60), time)).components.seconds
    }

    private static let now = 1_767_312_000

    @Test("One that came while the inbox was watched waits since it was seen, whatever a server's clock says")
    func seen() {
        for changed in [0, Int.min, Int.max, Self.now - Self.day, Self.now, Self.now + Self.day] {
            #expect(wait(began: 49, changed: changed) == 10, "\(changed)")
        }
    }

    @Test("One that was there before waits since its last change, where that can be", arguments: [nil, 50, 51])
    func before(began: Int64?) {
        #expect(wait(began: began, changed: Self.now - Self.day) == Int64(Self.day))
        #expect(wait(began: began, changed: Self.now - 5) == 10)
        for changed in [0, 315_532_800, Int.min, Int.max, Self.now + Self.day] {
            #expect(wait(began: began, changed: changed) == 10, "\(changed)")
        }
    }
}

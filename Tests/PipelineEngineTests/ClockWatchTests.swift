import Files
import PipelineKit
import Testing

@testable import Journal
@testable import PipelineEngine

/// Clocks that are set.
@Suite("Clock watch") struct ClockWatchTests {
    private func steady(_ steps: [(wall: Int, monotonic: Int)]) -> [Bool] {
        var watch = ClockWatch()
        return steps.map { step in
            watch.isSteady(
                wall: Timestamp(nanoseconds: Int64(step.wall) * 1_000_000_000),
                monotonic: MonotonicTime(nanoseconds: Int64(step.monotonic) * 1_000_000_000))
        }
    }

    @Test("One that goes as the other is steady, one that jumps is not, until it goes on from there")
    func jumps() {
        let day = 86_400
        #expect(steady([(0, 0), (3600, 3600), (7210, 7200)]) == [true, true, true])
        #expect(steady([(0, 0), (400 * day, 3600), (400 * day + 3600, 7200)]) == [true, false, true])
        #expect(steady([(400 * day, 0), (3600, 3600), (7200, 7200)]) == [true, false, true])
    }

    @Test("What began and ended in one run took what the monotonic clock says") func took() throws {
        let id = JobIDGenerator().next()
        let job = Job(
            id: id, pipeline: "test",
            drop: Drop(name: try "a".fileName, folders: [], size: 1, droppedAt: id.time, isFolder: false),
            claimedAt: Timestamp(nanoseconds: 5_000_000_000), folder: "/work")
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        #expect(record.took(at: Timestamp(nanoseconds: 2_000_000_000)) == .zero, "the clock was set back")
        record.end(.processed, intents: [], at: Timestamp(nanoseconds: 1_000_000_000), took: .seconds(3))
        #expect(record.took() == .seconds(3))
        record.history = []
        #expect(record.took() == .zero)
    }
}

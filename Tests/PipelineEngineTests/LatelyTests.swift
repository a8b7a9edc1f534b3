import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// What a pipeline did in the last hour.
@Suite("Lately", .timeLimit(.minutes(5))) struct LatelyTests {
    /// Numbers that are the same in each run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    private func time(minute: Int64, nanosecond: Int64 = 0) -> Timestamp {
        Timestamp(nanoseconds: minute * 60_000_000_000 + nanosecond)
    }

    @Test(
        "Each minute has what was noted in it, in whatever order, for an hour", arguments: 1...20 as ClosedRange<UInt64>
    )
    func buckets(seed: UInt64) {
        var numbers = Numbers(state: seed)
        var buckets = MinuteBuckets(empty: 0)
        var (model, now) = ([Int64: Int](), Int64.random(in: -100...1_000_000, using: &numbers))
        for _ in 0..<2000 {
            now += Int64.random(in: 0..<100, using: &numbers) < 97 ? 0 : Int64.random(in: 1...90, using: &numbers)
            let late = Int64.random(in: 0..<10, using: &numbers) == 0 ? Int64.random(in: 0..<60, using: &numbers) : 0
            // What comes late must not come later than all that is kept.
            let minute = max(now - late, (model.keys.max() ?? now) - 59)
            let value = Int.random(in: 1...9, using: &numbers)
            buckets.note(at: time(minute: minute, nanosecond: .random(in: 0..<60_000_000_000, using: &numbers))) {
                $0 += value
            }
            model[minute, default: 0] += value
            let asked = now + Int64.random(in: 0...70, using: &numbers)
            #expect(buckets.values(at: time(minute: asked)) == (asked - 59...asked).map { model[$0] ?? 0 })
        }
    }

    @Test("A clock that is set back by an hour or more begins anew, by less goes on")
    func setBack() {
        var buckets = MinuteBuckets(empty: 0)
        buckets.note(at: time(minute: 1000)) { $0 = 1 }
        buckets.note(at: time(minute: 941)) { $0 = 2 }
        #expect(buckets.values(at: time(minute: 1000)) == [2] + Array(repeating: 0, count: 58) + [1])
        buckets.note(at: time(minute: 940)) { $0 = 3 }
        #expect(buckets.values(at: time(minute: 940)) == Array(repeating: 0, count: 59) + [3])
        #expect(buckets.values(at: time(minute: 1000)).allSatisfy { $0 == 0 })
        #expect(MinuteBuckets<Int>.beginning(of: time(minute: -3, nanosecond: 7)) == time(minute: -3))
        #expect(MinuteBuckets(empty: 7).values(at: .now()) == Array(repeating: 7, count: 60))
    }

    @Test("The median is that of the last runs")
    func median() {
        var times = RecentTimes()
        #expect(times.median == nil)
        for second in [9, 1, 5] { times.add(.seconds(second)) }
        #expect(times.median == .seconds(5))
        for second in 1...200 { times.add(.seconds(second)) }
        #expect(times.median == .seconds(200 - RecentTimes.most / 2))
    }

    @Test("Jobs that are over count with their minute, failures at their stage, and stay over a reload")
    func reload() async throws {
        let scratch = try ScratchFolder()
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [.passing, .fake { (_, _) throws(Failure) in throw .file("test", "It is damaged.") }])
        try engine.start()
        for name in ["a", "b"] { try engine.drop(name) }
        #expect(await eventually { engine.reports.count == 2 })
        let before = try #require(engine.gauges.first)
        let place = try #require(before.row.last?.place)
        #expect(before.row.map(\.place) == engine.pipeline.stagePlaces)
        let tallies = before.lately.ended.values(at: .now())
        #expect(tallies.reduce(0) { $0 + $1.jobs } == 2 && tallies.reduce(0) { $0 + $1.failed } == 2)
        #expect(tallies.reduce(0) { $0 + $1.bytes } == engine.reports.reduce(0) { $0 + $1.job.drop.size })
        #expect(before.lately.failures(of: place, at: .now()) == 2)
        #expect(before.lately.usualTime(of: before.row[0].place) != nil && before.lately.usualTime(of: place) == nil)
        #expect(try engine.openFailures() == ["test": 2])
        var changed = engine.pipeline
        changed.activeJobs = 7
        changed.declaration.keys["active"] = "7"
        _ = try engine.reload([changed])
        #expect(engine.gauges.first?.lately == before.lately)
        _ = await engine.stop()
    }
}

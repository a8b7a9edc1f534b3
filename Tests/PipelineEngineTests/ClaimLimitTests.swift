import Files
import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine

@Suite("Limits of claims", .timeLimit(.minutes(5))) struct ClaimLimitTests {
    private func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 5_000_000_000 + Int64(seconds * 1e9))
    }

    /// Takes as soon as that may be, until the end; when.
    private func times(_ limit: inout ClaimLimit, size: Int64 = 1, until end: MonotonicTime) -> [MonotonicTime] {
        var times: [MonotonicTime] = []
        var now = at(0)
        while true {
            now = limit.opens(for: size, at: now)
            guard now < end else { return times }
            limit.take(size, at: now)
            times.append(now)
        }
    }

    @Test("A hundred a minute are a thousand in ten minutes, one after the other")
    func jobs() throws {
        let rate = LimitRule.Rate(100, per: .seconds(60), text: "100/min")
        var limit = try #require(ClaimLimit(LimitRule(jobs: rate), at: at(0)))
        let times = times(&limit, until: at(600))
        #expect(abs(times.count - 1000) <= 1)
        for second in 0..<600 {
            #expect(times.count { $0 >= at(Double(second)) && $0 < at(Double(second + 1)) } <= 3)
        }
        #expect(limit.reason(for: 1, at: at(600)) == "limit.jobs: 100/min")
        // What gathers in a night is no more than in a second.
        let morning = at(40_000)
        #expect(limit.opens(for: 1, at: morning) == morning)
        limit.take(1, at: morning)
        #expect(limit.opens(for: 1, at: morning) > morning)
    }

    @Test("A rate above one a second gathers what a second brings")
    func gathers() throws {
        let rate = LimitRule.Rate(50, per: .seconds(1), text: "50/s")
        var limit = try #require(ClaimLimit(LimitRule(jobs: rate), at: at(0)))
        #expect(times(&limit, until: at(0.001)).count == 50)
        #expect(times(&limit, until: at(10)).count == 500 - 1)
    }

    @Test("A drop of more than a second's bytes is claimed, and paid for by those behind it")
    func bytes() throws {
        let rate = LimitRule.Rate(1 << 20, per: .seconds(1), text: "1MiB/s")
        var limit = try #require(ClaimLimit(LimitRule(bytes: rate), at: at(0)))
        #expect(limit.opens(for: 10 << 20, at: at(0)) == at(0))
        limit.take(10 << 20, at: at(0))
        #expect(limit.opens(for: 1, at: at(0)) > at(8.9) && limit.opens(for: 1, at: at(0)) < at(9.1))
        #expect(limit.reason(for: 1, at: at(1)) == "limit.bytes: 1MiB/s" && limit.reason(for: 1, at: at(9.1)) == nil)
        #expect(limit.opens(for: 0, at: at(0)) > at(8.9))
    }

    @Test("Sizes, rates and clocks of any value are no trap")
    func extremes() {
        for amount in [1, Int64.max] {
            for time in [Duration.nanoseconds(1), .seconds(86_400)] {
                let rate = LimitRule.Rate(amount, per: time, text: "")
                for nanoseconds in [Int64.min, 0, .max] {
                    var bucket = TokenBucket(rate, at: MonotonicTime(nanoseconds: nanoseconds))
                    for now in [0, Int64.max / 2] {
                        bucket.take(.max, at: MonotonicTime(nanoseconds: now))
                        _ = bucket.opens(for: .max, at: MonotonicTime(nanoseconds: now))
                    }
                }
            }
        }
        #expect(ClaimLimit(nil) == nil)
    }

    @Test("The inbox keeps what the limit does not let be claimed, and says so")
    func intake() async throws {
        let scratch = try ScratchFolder()
        let rate = LimitRule.Rate(1, per: .seconds(86_400), text: "1/d")
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.limit = LimitRule(jobs: rate) }
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.reports.count == 1 })
        try engine.drop("b")
        #expect(await eventually { await engine.waiting(for: "b")?.waiting == .rate("limit.jobs: 1/d") })
        #expect(engine.claimed.count == 1)
        _ = await engine.stop()
    }

    @Test("What waits for the limit is claimed when its time has come, without anything else happening")
    func wakes() async throws {
        let scratch = try ScratchFolder()
        let rate = LimitRule.Rate(120, per: .seconds(60), text: "120/min")
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.limit = LimitRule(jobs: rate) }
        try engine.start()
        for name in ["a", "b", "c", "d"] { try engine.drop(name) }
        #expect(await eventually { engine.reports.count == 4 })
        let times = engine.claimed.map(\.claimedAt).sorted()
        #expect(times[3] - times[1] > .milliseconds(900))
        _ = await engine.stop()
    }
}

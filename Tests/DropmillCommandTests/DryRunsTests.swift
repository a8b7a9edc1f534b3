import Control
import Files
import PipelineKit
import Testing

@testable import DropmillCommand

/// What dry runs have found is what runs are of.
@Suite struct DryRunsTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let order = SendingOrder(pipeline: "a", since: 5, limit: 10)

    private func found(_ order: SendingOrder, at time: MonotonicTime) throws -> DryRuns.Found {
        let job = try #require(JobID("00000000000000000000000001"))
        return .init(verb: "retry", order: order, jobs: [job], summary: nil, at: time)
    }

    private func problem(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? ControlProblem)?.message
        }
    }

    @Test("A key serves once, for what was asked")
    func once() throws {
        var runs = DryRuns()
        let key = runs.keep(try found(order, at: now))
        var same = order
        (same.since, same.key, same.interval) = (6, key, 1)
        #expect(try runs.take(key, "retry", same, at: now).jobs.count == 1)
        #expect(
            problem { _ = try runs.take(key, "retry", same, at: now) }?.hasPrefix("its dry run is not known") == true)
    }

    @Test("A key of other jobs, and one that is too old, are refused")
    func refusals() throws {
        var runs = DryRuns()
        let key = runs.keep(try found(order, at: now))
        var others: [SendingOrder] = []
        for change: (inout SendingOrder) -> Void in [
            { $0.pipeline = "b" }, { $0.jobs = ["x"] }, { $0.since = nil }, { $0.limit = 11 },
            { $0.states = ["failed"] },
        ] {
            var other = order
            change(&other)
            others.append(other)
        }
        for other in others {
            let text = problem { _ = try runs.take(key, "retry", other, at: now) }
            #expect(text == "the dry run was of other jobs; look again what there is")
        }
        #expect(problem { _ = try runs.take(key, "cancel", order, at: now) } != nil)
        #expect(problem { _ = try runs.take(key, "retry", order, at: now + DryRuns.memory) } != nil)
        #expect(problem { _ = try runs.take("", "retry", order, at: now) } != nil)
        _ = try runs.take(key, "retry", order, at: now)
    }

    @Test("Only the newest ones are kept")
    func bounds() throws {
        var runs = DryRuns()
        let keys = try (0...DryRuns.most).map { _ in runs.keep(try found(order, at: now)) }
        #expect(Set(keys).count == keys.count)
        #expect(problem { _ = try runs.take(keys[0], "retry", order, at: now) } != nil)
        for key in keys.dropFirst() { _ = try runs.take(key, "retry", order, at: now) }
    }
}

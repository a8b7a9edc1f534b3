package import Files
package import Journal
import PipelineKit

/// What a pipeline did lately, for people who look on. Pure, and in memory alone. It belongs to the engine, by the name
/// of the pipeline, so that it stays whatever becomes of a runner.
package struct Lately: Sendable, Equatable {
    /// A stage as the n-th of its kind, counted from 0: what stays the same where a reload changes others.
    package struct Place: Sendable, Hashable {
        package let kind: String
        package let number: Int

        package init(kind: String, number: Int = 0) { (self.kind, self.number) = (kind, number) }
    }

    /// What was over in a minute.
    package struct Tally: Sendable, Equatable {
        /// All jobs, those of them that failed, and the bytes of all their drops.
        package fileprivate(set) var jobs = 0, failed = 0, bytes: Int64 = 0

        package init() {}
    }

    private struct Stage: Sendable, Equatable {
        var times = RecentTimes()
        var failed = MinuteBuckets(empty: 0)
    }

    package private(set) var ended = MinuteBuckets(empty: Tally())
    private var stages: [Place: Stage] = [:]
    /// By producer, where the pipeline is shared.
    private(set) var producers = ProducerTally()

    package init() {}

    /// A job is over; one that was released counts nowhere. `place`: of the stage that it failed at; `isShared`:
    /// whether its producer counts, too.
    package mutating func end(_ job: JobRecord, at place: Place?, isShared: Bool = false) {
        guard let outcome = Figures.Outcome(job), let time = job.finishedAt else { return }
        if isShared { producers.end(of: job.producer ?? FairRule.others, hasFailed: outcome == .failed) }
        ended.note(at: time) { tally in
            tally.jobs += 1
            if outcome == .failed { tally.failed += 1 }
            tally.bytes = tally.bytes.addingSaturated(max(0, job.drop.size))
        }
        guard outcome == .failed, let place else { return }
        stages[place, default: Stage()].failed.note(at: time) { $0 += 1 }
    }

    /// A run of a stage has succeeded.
    package mutating func run(of place: Place, took time: Duration) { stages[place, default: Stage()].times.add(time) }

    /// How long half of its last runs took at most; nil where there were none.
    package func usualTime(of place: Place) -> Duration? { stages[place]?.times.median }

    /// How many jobs failed at it within the hour before that.
    package func failures(of place: Place, at now: Timestamp) -> Int {
        stages[place]?.failed.values(at: now).reduce(0, +) ?? 0
    }
}

extension Pipeline {
    /// Its stages, each as the n-th of its kind.
    package var stagePlaces: [Lately.Place] {
        var counts: [String: Int] = [:]
        return stages.map { stage in
            let number = counts[stage.kind, default: 0]
            counts[stage.kind] = number + 1
            return Lately.Place(kind: stage.kind, number: number)
        }
    }
}

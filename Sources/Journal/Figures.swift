package import Files
import PipelineKit

/// What has become of a pipeline's jobs since its journal began: numbers that only grow, also where history is removed.
/// Those that were released are in none of them.
package struct Figures: Sendable, Equatable {
    /// How a job ended, in one word.
    package enum Outcome: String, Sendable, CaseIterable {
        case processed, failed, cancelled, lost
    }

    /// Jobs, and the sizes of their drops in bytes.
    package struct Tally: Sendable, Equatable {
        package fileprivate(set) var jobs: UInt64 = 0
        package fileprivate(set) var bytes: UInt64 = 0
    }

    /// Where and why jobs failed.
    package struct Reason: Sendable, Hashable {
        /// The kind of the stage; empty where it was none.
        package let stage: String
        package let code: String
    }

    /// What was over on one day.
    package struct Day: Sendable, Equatable {
        /// When it began: seconds since 1970.
        package let begin: Int64
        /// Jobs, and the bytes of all their drops.
        package fileprivate(set) var processed: UInt64 = 0
        package fileprivate(set) var failed: UInt64 = 0
        package fileprivate(set) var bytes: UInt64 = 0
    }

    package private(set) var ended: [Outcome: Tally] = [:]
    /// The day on which one ended last, as far as that is counted.
    package private(set) var day: Day?
    /// How many failed, of those that are `failed`.
    package private(set) var failures: [Reason: UInt64] = [:]
    /// How many runs of a stage failed and were followed by another, by its kind.
    package private(set) var retries: [String: UInt64] = [:]
    /// From a job's claim to its end.
    package private(set) var durations = Histogram()
    /// Runs of stages, by kind, that succeeded or failed.
    package private(set) var stages: [String: Histogram] = [:]
    /// From a drop's last change to its claim.
    package private(set) var readyWaits = Histogram()
    /// When one ended last; nil where none has since this is counted.
    package private(set) var lastEnd: Timestamp?

    package init() {}

    /// Counts a job that has just ended. `code`: what it counts as having failed with; `today`: the day.
    package mutating func add(_ job: JobRecord, code: String? = nil, on today: HostDay? = nil) {
        guard let outcome = Outcome(job) else { return }
        if let today { add(outcome, size: job.drop.size, on: today) }
        lastEnd = job.finishedAt ?? lastEnd
        let tally = ended[outcome] ?? Tally()
        let size = UInt64(max(0, job.drop.size))
        ended[outcome] = Tally(jobs: tally.jobs &+ 1, bytes: tally.bytes.addingSaturated(size))
        durations.add(job.took())
        readyWaits.add(job.claimedAt - job.drop.droppedAt)
        let last = outcome == .failed ? job.failedStage : nil
        if outcome == .failed {
            failures[Reason(stage: last ?? "", code: code ?? job.failure?.code ?? ""), default: 0] &+= 1
        }
        var failed: [String: UInt64] = [:]
        // What a job that was lost did before that is counted already.
        let first = job.history.lastIndex { $0.event == JobRecord.foundAgainEvent } ?? job.history.startIndex
        for place in job.history.indices[first...] {
            guard let stage = job.history[place].stage, let run = Run(rawValue: job.history[place].event) else {
                continue
            }
            if let duration = job.history[place].duration { stages[stage, default: Histogram()].add(duration) }
            if run == .failed { failed[stage, default: 0] &+= UInt64(max(0, job.history[place].times)) }
        }
        // The last run of the stage that failed was followed by none.
        if let last, let runs = failed[last] { failed[last] = runs &- min(runs, 1) }
        for (stage, runs) in failed where runs > 0 { retries[stage, default: 0] &+= runs }
    }

    private mutating func add(_ outcome: Outcome, size: Int64, on today: HostDay) {
        var day = self.day.flatMap { $0.begin == today.begin ? $0 : nil } ?? Day(begin: today.begin)
        switch outcome {
        case .processed: day.processed &+= 1
        case .failed: day.failed &+= 1
        case .cancelled, .lost: break
        }
        day.bytes = day.bytes.addingSaturated(UInt64(max(0, size)))
        self.day = day
    }

    private enum Run: String { case done, failed }
}

extension Figures.Outcome {
    /// Nil of a job that is not over, or was released.
    package init?(_ job: JobRecord) {
        switch job.state {
        case .processed: self = .processed
        case .failed where job.isReleased: return nil
        case .failed: self = job.failure?.isCancel ?? false ? .cancelled : .failed
        case .lost: self = .lost
        case .queued, .running, .deferred, .settling: return nil
        }
    }
}

extension Figures {
    /// As the journal has them.
    package var json: String {
        var json = JSONText()
        json.object { json in
            json.object("ended") { json in
                for (outcome, tally) in ended {
                    json.array(outcome.rawValue) { json in
                        json.integer(nil, tally.jobs)
                        json.integer(nil, tally.bytes)
                    }
                }
            }
            json.array("failures") { json in
                for (reason, count) in failures {
                    json.array { json in
                        json.text(nil, reason.stage)
                        json.text(nil, reason.code)
                        json.integer(nil, count)
                    }
                }
            }
            json.object("retries") { json in
                for (stage, count) in retries { json.integer(stage, count) }
            }
            if let lastEnd { json.integer("last", lastEnd.nanoseconds) }
            if let day {
                json.array("day") { json in
                    json.integer(nil, day.begin)
                    for number in [day.processed, day.failed, day.bytes] { json.integer(nil, number) }
                }
            }
            durations.write("durations", to: &json)
            readyWaits.write("waits", to: &json)
            json.object("stages") { json in
                for (stage, histogram) in stages { histogram.write(stage, to: &json) }
            }
        }
        return json.string
    }

    /// Nil where the text is not of these. What a newer Dropmill added to it is left out.
    package init?(json: String) {
        guard let members = JSONValue(json)?.object, let ended = members["ended"]?.object,
            let failures = members["failures"]?.array, let retries = members["retries"]?.object,
            let stages = members["stages"]?.object, let durations = members["durations"].flatMap(Histogram.init),
            let waits = members["waits"].flatMap(Histogram.init)
        else { return nil }
        for (word, tally) in ended {
            guard let outcome = Outcome(rawValue: word), let numbers = tally.array, numbers.count == 2,
                let jobs: UInt64 = numbers[0].integer(), let bytes: UInt64 = numbers[1].integer()
            else { return nil }
            self.ended[outcome] = Tally(jobs: jobs, bytes: bytes)
        }
        for failure in failures {
            guard let parts = failure.array, parts.count == 3, let stage = parts[0].string, let code = parts[1].string,
                let count: UInt64 = parts[2].integer()
            else { return nil }
            self.failures[Reason(stage: stage, code: code)] = count
        }
        for (stage, count) in retries {
            guard let count: UInt64 = count.integer() else { return nil }
            self.retries[stage] = count
        }
        for (stage, histogram) in stages {
            guard let histogram = Histogram(histogram) else { return nil }
            self.stages[stage] = histogram
        }
        (self.durations, self.readyWaits) = (durations, waits)
        lastEnd = members["last"].flatMap { $0.integer() }.map { Timestamp(nanoseconds: $0) }
        day = members["day"].flatMap(Day.init)
    }
}

extension Figures.Day {
    /// Nil where it is none.
    fileprivate init?(_ value: JSONValue) {
        guard let numbers = value.array, numbers.count == 4, let begin: Int64 = numbers[0].integer() else { return nil }
        let counts = numbers.dropFirst().compactMap { $0.integer(UInt64.self) }
        guard counts.count == 3 else { return nil }
        self.init(begin: begin, processed: counts[0], failed: counts[1], bytes: counts[2])
    }
}

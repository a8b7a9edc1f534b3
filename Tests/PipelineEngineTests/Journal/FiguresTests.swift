import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal

/// What a pipeline's jobs add up to.
@Suite("Figures") struct FiguresTests {
    private func job(_ state: JobRecord.State, failing stage: String? = nil, _ history: [Transition]) throws
        -> JobRecord
    {
        var job = try JournalSamples.job(3, state: state)
        job.history = history
        job.failedStage = stage
        if state == .failed { job.failure = .file("archive.damaged", "It is damaged.", remedy: "") }
        return job
    }

    private func run(_ event: String, _ stage: String, _ seconds: Double, times: Int = 1) -> Transition {
        var run = Transition(event, at: JournalSamples.time(3), stage: stage, duration: .seconds(seconds))
        run.times = times
        return run
    }

    @Test("Runs of stages, those that were tried again, and why a job failed")
    func stages() throws {
        var figures = Figures()
        figures.add(
            try job(
                .processed, [run("failed", "http", 2, times: 3), run("done", "http", 0.5), run("done", "move", 0.001)]))
        #expect(figures.retries == ["http": 3] && figures.failures.isEmpty)
        figures.add(try job(.failed, failing: "unpack", [run("failed", "unpack", 1), run("failed", "unpack", 1)]))
        figures.add(try job(.failed, failing: "unpack", [run("failed", "unpack", 1)]))
        // A stage that failed without a run of its own.
        figures.add(try job(.failed, failing: "move", [run("done", "unpack", 4000)]))
        #expect(figures.retries == ["http": 3, "unpack": 1])
        #expect(
            figures.failures == [
                .init(stage: "unpack", code: "archive.damaged"): 2, .init(stage: "move", code: "archive.damaged"): 1,
            ])
        #expect(figures.stages["http"]?.count == 2 && figures.stages["unpack"]?.count == 4)
        #expect(figures.stages["unpack"]?.counts.last == 1, "longer than an hour")
        #expect(figures.ended[.processed] == Figures.Tally(jobs: 1, bytes: 3))
        #expect(figures.ended[.failed]?.jobs == 3)
        figures.add(try job(.running, []))
        #expect(figures.durations.count == 4)
    }

    @Test("What a job did before it was lost counts once")
    func foundAgain() throws {
        var figures = Figures()
        var lost = try job(.lost, [run("failed", "http", 2, times: 3), run("done", "http", 1)])
        figures.add(lost)
        lost.history += [Transition(JobRecord.foundAgainEvent, at: JournalSamples.time(4)), run("done", "move", 1)]
        lost.state = .processed
        figures.add(lost)
        #expect(figures.retries == ["http": 3])
        #expect(figures.stages.mapValues(\.count) == ["http": 2, "move": 1])
        #expect(figures.ended[.lost]?.jobs == 1 && figures.ended[.processed]?.jobs == 1)
    }

    @Test("Times and sizes that nobody can believe make no trouble")
    func extremes() throws {
        var figures = Figures()
        for number in 1...3 { figures.add(try JournalSamples.fullJob(number)) }
        var early = try JournalSamples.job(1, state: .processed)
        early.claimedAt = Timestamp(nanoseconds: .min)
        figures.add(early)
        #expect(figures.ended[.failed] == Figures.Tally(jobs: 3, bytes: .max))
        #expect(figures.readyWaits.count == 4)
    }

    @Test("What is written down is what is read again, and nothing else is taken for it")
    func coding() throws {
        var figures = Figures()
        #expect(Figures(json: figures.json) == figures)
        figures.add(try JournalSamples.fullJob(1))
        figures.add(try job(.processed, [run("failed", "http", 2), run("done", "ein \"Ordner\"", 0.5)]))
        #expect(Figures(json: figures.json) == figures)
        for text in [
            "", "{}", "[]", figures.json.replacing("\"ended\"", with: "\"endet\""),
            figures.json.replacing("[", with: "[-1,"),
        ] {
            #expect(Figures(json: text) == nil)
        }
    }

    @Test("The classes of a histogram")
    func histogram() {
        var histogram = Histogram()
        for seconds in [-5, 0, 0.01, 0.011, 3600, 3601] { histogram.add(.seconds(seconds)) }
        #expect(histogram.counts == [3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
        #expect(histogram.sum == .seconds(0.021) + .seconds(7201))
        histogram.add(.nanoseconds(Int64.max))
        histogram.add(.nanoseconds(Int64.max))
        #expect(histogram.sum == .nanoseconds(Int64.max) && histogram.count == 8)
    }
}

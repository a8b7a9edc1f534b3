import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal

/// What is made of a job's history to be drawn.
@Suite("Time line") struct TimeLineTests {
    /// So many seconds after a day's begin.
    private static func at(_ seconds: Double) -> Timestamp {
        Timestamp(nanoseconds: 1_800_000_000_000_000_000 + Int64(seconds * 1000) * 1_000_000)
    }

    private func record(
        _ state: JobRecord.State, stage: Int = 0, failing failed: String? = nil, _ history: [Transition]
    ) throws -> JobRecord {
        let drop = Drop(name: try "cover.pdf".fileName, size: 1, droppedAt: Self.at(0))
        let job = Job(
            id: try #require(JobID("01M8092HDT09ZD2CGA9PA8YHDR")), pipeline: "covers", drop: drop,
            claimedAt: Self.at(23), folder: "/work/a")
        var record = JobRecord(claimed: job, identity: .unknown, definition: "a b c")
        (record.state, record.stage, record.failedStage, record.history) = (state, stage, failed, history)
        if failed != nil { record.failure = Failure(.file, code: "run.failed", summary: "Status 3.") }
        return record
    }

    private static func event(
        _ event: String, _ seconds: Double, _ stage: String? = nil, took: Double? = nil, code: String? = nil,
        _ note: String? = nil
    ) -> Transition {
        let took = took.map { Duration.milliseconds(Int64($0 * 1000)) }
        return Transition(event, at: at(seconds), stage: stage, duration: took, code: code, note: note)
    }

    /// A row in short: `run: queued 0-3, run 3-7 #1 again`.
    private func lines(_ record: JobRecord, _ stages: [String] = ["checksum", "run", "move"]) -> [String] {
        func text(_ time: Timestamp) -> String {
            let milliseconds = (time - Self.at(0)).nanoseconds / 1_000_000
            return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
        }
        return TimeLine(of: record, stages: stages).rows.map { row in
            let spans = row.spans.map { span in
                [
                    span.kind.rawValue, "\(text(span.from))-\(span.to.map(text) ?? "")",
                    span.attempt.map { "#\($0)" }, span.outcome?.rawValue, span.text.map { "(\($0))" },
                ].compactMap(\.self).joined(separator: " ")
            }
            return "\(row.kind): \(row.isSkipped ? "skipped" : spans.joined(separator: ", "))"
        }
    }

    @Test("The story of a job with three attempts")
    func story() throws {
        let record = try record(
            .failed, stage: 3, failing: "run",
            [
                Self.event("held", 0, took: 21, code: "open-writer", "held open for writing by smbd (pid 2210)"),
                Self.event("claimed", 23, took: 23), Self.event("done", 24, "checksum", took: 0.5),
                Self.event("failed", 254, "run", took: 124, "status 75"),
                Self.event("deferred", 254, nil, "attempt 2 in 1 min"), Self.event("queued", 314, "run"),
                Self.event("failed", 343, "run", took: 29, "status 75"),
                Self.event("deferred", 343, nil, "attempt 3 in 2 min"), Self.event("queued", 463, "run"),
                Self.event("failed", 599, "run", took: 135, "status 3"),
                Self.event("notified", 599.5, "http", took: 0.5),
                Self.event("settling", 600), Self.event("failed", 601, took: 578, "status 3"),
            ])
        #expect(
            lines(record) == [
                "inbox: inbox 0-21 (held open for writing by smbd (pid 2210)), inbox 21-23",
                "checksum: queued 23-23.5, run 23.5-24 #1 done",
                "run: queued 24-130, run 130-254 #1 again (status 75), deferred 254-314 (attempt 2 in 1 min), "
                    + "run 314-343 #2 again (status 75), deferred 343-463 (attempt 3 in 2 min), queued 463-464, "
                    + "run 464-599 #3 failed (status 3)",
                "move: ", "http: run 599-599.5 #1 done", "settling: queued 599.5-600, settling 600-601 failed",
            ])
        let line = TimeLine(of: record, stages: ["checksum", "run", "move"])
        #expect(line.firstSeen == Self.at(0))
        #expect(line.held.map(\.code) == ["open-writer"] && line.held.map(\.time) == [.seconds(21)])
        #expect(line.rows[2].time(.run) == .seconds(288) && line.rows[2].time(.deferred) == .seconds(180))
    }

    @Test("A job that is not over goes on with what it does")
    func unfinished() throws {
        let claimed = [Self.event("claimed", 23, took: 3)]
        #expect(lines(try record(.queued, claimed))[1] == "checksum: queued 23-")
        let done = claimed + [Self.event("done", 24, "checksum", took: 1), Self.event("begun", 30, "run")]
        #expect(lines(try record(.running, stage: 1, done))[2] == "run: queued 24-30, run 30- #1")
        let failed =
            Array(done.dropLast()) + [
                Self.event("failed", 31, "run", took: 1, "busy"), Self.event("deferred", 31, nil, "attempt 2 in 9 s"),
            ]
        #expect(
            lines(try record(.deferred, stage: 1, failing: "run", failed))[2]
                == "run: queued 24-30, run 30-31 #1 again (busy), deferred 31- (attempt 2 in 9 s)")
        let all =
            Array(done.dropLast()) + [
                Self.event("skipped", 25, "run"), Self.event("done", 26, "move", took: 1), Self.event("settling", 27),
            ]
        #expect(
            lines(try record(.settling, stage: 3, all)).suffix(3) == [
                "run: skipped", "move: queued 24-25, run 25-26 #1 done", "settling: queued 26-27, settling 27-",
            ])
    }

    @Test("A run that the daemon's end broke off is told, and so is one that was called off")
    func brokenOff() throws {
        let history = [
            Self.event("claimed", 23), Self.event("begun", 24, "checksum"), Self.event("recovered", 40),
            Self.event("broken off", 60, "checksum", took: 10), Self.event("done", 70, "checksum", took: 4),
        ]
        #expect(
            lines(try record(.queued, stage: 1, history)).prefix(3) == [
                "inbox: inbox 0-23",
                "checksum: queued 23-24, run 24-40 #1 again (broken off), queued 40-50, run 50-60 #2 again, "
                    + "queued 60-66, run 66-70 #3 done",
                "run: queued 70-",
            ])
    }

    @Test("Runs that ended alike during a pause are one entry")
    func pause() throws {
        var full = Self.event("failed", 30, "checksum", took: 1, "No space.")
        for second in [40.0, 50, 60] { full.repeats(at: Self.at(second)) }
        let history = [Self.event("claimed", 23), full, Self.event("done", 71, "checksum", took: 1)]
        #expect(
            lines(try record(.queued, stage: 1, history))[1]
                == "checksum: queued 23-29, run 29-30 #1 again (No space.), "
                + "queued 30-60 (run 3 more times, with the same end), queued 60-70, run 70-71 #2 done")
    }

    @Test("What an older version wrote gives what it knows, and a stage that is gone a row of its own")
    func older() throws {
        let history = [
            Self.event("claimed", 23), Self.event("failed", 30, "unpack", took: 2, "busy"),
            Self.event("deferred", 30, nil, "attempt 2 in 5 s"), Self.event("done", 40, "unpack", took: 3),
            Self.event("begun again", 41), Self.event("done", 50, "run", took: 1), Self.event("settling", 51),
            Self.event("processed", 52, took: 29),
        ]
        #expect(
            lines(try record(.processed, stage: 2, history), ["run"]) == [
                "inbox: inbox 0-23", "run: queued 40-49, run 49-50 #1 done",
                "unpack: queued 23-28, run 28-30 #1 again (busy), deferred 30-37 (attempt 2 in 5 s), run 37-40 #2 done",
                "settling: queued 50-51, settling 51-52 done",
            ])
        #expect(
            lines(try record(.processed, [])) == ["inbox: inbox 0-23", "checksum: ", "run: ", "move: ", "settling: "])
        #expect(TimeLine(of: try record(.processed, []), stages: []).firstSeen == nil)
    }

    @Test("Of two stages of one kind the next one ran")
    func alike() throws {
        let history = [
            Self.event("claimed", 23), Self.event("done", 24, "run", took: 1), Self.event("done", 25, "run", took: 1),
        ]
        #expect(
            lines(try record(.queued, stage: 2, history), ["run", "run", "run"]) == [
                "inbox: inbox 0-23", "run: run 23-24 #1 done", "run: run 24-25 #1 done", "run: queued 25-",
                "settling: ",
            ])
    }

    @Test("A clock that was set back takes no time from anything")
    func clock() throws {
        let history = [
            Self.event("claimed", 23), Self.event("done", 30, "checksum", took: 5),
            Self.event("done", -3000, "run", took: 60), Self.event("done", -2990, "move", took: 7),
        ]
        #expect(
            lines(try record(.queued, stage: 3, history)) == [
                "inbox: inbox 0-23", "checksum: queued 23-25, run 25-30 #1 done", "run: run 30-90 #1 done",
                "move: queued 90-93, run 93-100 #1 done", "settling: queued 100-",
            ])
    }

    /// Any history, also such as no version writes, with clocks that jump and numbers of a damaged journal.
    @Test("Spans follow each other, take no negative time, and together no more than all", arguments: 0..<400)
    func anyHistory(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let events = [
            "held", "claimed", "recovered", "begun", "done", "failed", "broken off", "skipped", "deferred", "queued",
            "notified", "could not notify", "settling", "renamed", "begun again", "unsynced", "lost", "found again",
            "cancelled", "processed",
        ]
        var now = 23.0
        let history = (0..<Int.random(in: 0...25, using: &random)).map { _ in
            now += Double.random(in: seed % 2 == 0 ? 0...9 : -40...60, using: &random)
            let stage = [nil, "checksum", "run", "run", "unpack"].randomElement(using: &random) ?? nil
            let took = Bool.random(using: &random) ? Double.random(in: -5...20, using: &random) : nil
            var event = Self.event(events.randomElement(using: &random) ?? "", now, stage, took: took)
            if seed % 7 == 0 { event.at = Timestamp(nanoseconds: [.min, .max, 0].randomElement(using: &random) ?? 0) }
            if seed % 11 == 0 { event.duration = .seconds(Int64.max) }
            if Int.random(in: 0..<5, using: &random) == 0 { event.repeats(at: Self.at(now + 5)) }
            return event
        }
        let state = JobRecord.State.allCases.randomElement(using: &random) ?? .queued
        var record = try record(state, stage: Int.random(in: -1...5, using: &random), history)
        record.failedStage = ["run", "unpack", nil].randomElement(using: &random) ?? nil
        let spans = TimeLine(of: record, stages: ["checksum", "run", "run"]).spans
        for (span, next) in zip(spans, spans.dropFirst()) {
            let end = try #require(span.to, "only the last goes on")
            #expect(span.from <= end && end <= next.from)
        }
        #expect(spans.allSatisfy { $0.time.map { $0 >= .zero } ?? true })
        #expect(spans.contains { $0.to == nil } == !state.isFinal)
        let sum = spans.compactMap(\.time).reduce(.zero, +)
        if let first = spans.first, let last = spans.last { #expect(sum <= (last.to ?? last.from) - first.from) }
        for row in TimeLine(of: record, stages: ["checksum", "run", "run"]).rows {
            #expect(row.spans.map(\.from) == row.spans.map(\.from).sorted())
            let attempts = row.spans.compactMap(\.attempt)
            #expect(attempts == Array(1..<(attempts.count + 1)))
        }
    }
}

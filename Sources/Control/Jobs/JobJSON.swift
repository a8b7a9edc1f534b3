package import Journal
package import PipelineKit

/// Jobs for programs: the same keys in `jobs --json` and `show --json`; a key without a value is left out.
package enum JobJSON {
    /// An array of jobs, without what happened to each.
    package static func list(_ records: [JobRecord], _ surroundings: JobSurroundings = JobSurroundings()) -> String {
        var json = JSONText()
        json.array { json in
            for record in records { json.object { write(record, surroundings, &$0) } }
        }
        return json.string
    }

    /// One job with all that happened, as a line of its own.
    package static func line(_ record: JobRecord) -> String {
        var json = JSONText()
        json.object { json in
            write(record, JobSurroundings(), &json)
            write(history: record, &json)
        }
        return json.string
    }

    private static func write(history record: JobRecord, _ json: inout JSONText) {
        json.array("history") { json in
            for transition in record.history { json.object { write(transition, &$0) } }
        }
    }

    /// One job with all that happened. `retries` and `replays`: the jobs that it led to; `stages`: the kinds of its
    /// pipeline's; `choices`: what may be done with it.
    package static func story(
        _ record: JobRecord, retries: [JobRecord], replays: [JobRecord] = [], stages: [String] = [],
        _ surroundings: JobSurroundings = JobSurroundings(), choices: JobChoices? = nil
    ) -> String {
        var json = JSONText()
        json.object { json in
            write(record, surroundings, &json)
            json.array("retried_as") { json in
                for retry in retries { json.text(nil, retry.id.text) }
            }
            json.array("replayed_as") { json in
                for replay in replays { json.text(nil, replay.id.text) }
            }
            write(history: record, &json)
            json.timeLine("timeline", TimeLine(of: record, stages: stages))
            if let choices { json.object("may") { choices.write(&$0) } }
        }
        return json.string
    }

    package static func write(_ record: JobRecord, _ surroundings: JobSurroundings, _ json: inout JSONText) {
        json.text("id", record.id.text)
        json.text("pipeline", record.pipeline)
        json.text("state", record.word)
        json.name("name", record.drop.name.bytes)
        json.name("path", record.drop.path.bytes)
        json.integer("size", record.drop.size)
        if let producer = record.producer { json.text("producer", producer) }
        if let node = record.node { json.text("node", node) }
        json.text("dropped_at", record.drop.droppedAt.iso8601)
        json.text("claimed_at", record.claimedAt.iso8601)
        if let finished = record.finishedAt {
            json.text("finished_at", finished.iso8601)
            json.seconds("duration_s", record.took())
        }
        json.integer("stage", record.stage)
        if let kind = surroundings.stage(of: record) { json.text("stage_kind", kind) }
        surroundings.run(of: record)?.writeProgress(&json)
        json.integer("failures", record.failures)
        json.integer("recoveries", record.recoveries)
        if let next = record.nextAttempt { json.text("next_attempt_at", next.iso8601) }
        if let stage = record.failedStage { json.text("failed_stage", stage) }
        if let failure = record.failure { json.object("failure") { write(failure, &$0) } }
        if let hold = surroundings.hold(of: record) { json.object("held") { hold.write(&$0) } }
        if let pause = surroundings.pause(of: record) { json.object("paused") { write(pause, &$0) } }
        json.names("outputs", record.outputs.map(\.bytes))
        if let original = record.original { json.name("original", original.bytes) }
        json.object("digests") { json in
            for (algorithm, digest) in record.digests.sorted(by: { $0.key < $1.key }) { json.text(algorithm, digest) }
        }
        json.object("facts") { json in
            for (name, fact) in record.facts.sorted(by: { $0.key < $1.key }) { json.text(name, fact) }
        }
        if let origin = record.retryOf { json.text("retry_of", origin.text) }
        if let first = record.replayOf { json.text("replay_of", first.text) }
        if let dismissal = record.dismissed {
            json.object("dismissed") { json in
                json.text("by", dismissal.by)
                json.text("at", dismissal.at.iso8601)
            }
        }
    }

    /// Why something did not work: the same keys in every verb.
    package static func write(_ failure: Failure, _ json: inout JSONText) {
        json.text("class", failure.class.rawValue)
        json.text("code", failure.code)
        json.text("summary", failure.summary)
        json.text("remedy", failure.remedy)
        json.text("detail", failure.detail)
    }

    private static func write(_ transition: Transition, _ json: inout JSONText) {
        json.text("event", transition.event)
        json.text("at", transition.at.iso8601)
        if let stage = transition.stage { json.text("stage", stage) }
        if let duration = transition.duration { json.seconds("duration_s", duration) }
        if let code = transition.code { json.text("code", code) }
        if let note = transition.note { json.text("note", note) }
        if transition.times > 1 { json.integer("times", transition.times) }
        if let last = transition.lastAt { json.text("last_at", last.iso8601) }
    }
}

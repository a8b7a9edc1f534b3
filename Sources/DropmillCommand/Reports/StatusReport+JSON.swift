import Control
import Journal
import PipelineKit

// For programs.
extension StatusReport {
    /// One object: `daemon` and `pipelines`.
    var json: String {
        var json = JSONText()
        json.object { json in
            json.object("daemon") { json in
                json.flag("running", isRunning)
                if let run, nodes == nil {
                    json.integer("process", run.process)
                    json.text("started_at", run.startedAt.iso8601)
                    if let ended = run.endedAt { json.text("ended_at", ended.iso8601) }
                }
                if let silence { json.text("silence", silence) }
                if !runs.isEmpty {
                    json.array("runs") { json in
                        for run in runs {
                            json.object { json in
                                json.text("run", run.run)
                                json.text("verb", run.verb.rawValue)
                                if let left = run.left { json.integer("left", left) }
                            }
                        }
                    }
                }
                if !unloaded.isEmpty {
                    json.array("not_loaded") { json in
                        for difference in unloaded { json.object { difference.write(&$0) } }
                    }
                }
            }
            if let nodes { nodes.write(&json) }
            json.array("pipelines") { json in
                for row in rows { json.object { write(row, &$0) } }
            }
        }
        return json.string
    }

    private func write(_ row: Row, _ json: inout JSONText) {
        json.text("name", row.name)
        if let record = row.record {
            json.name("inbox", record.inbox.bytes)
        }
        if let waiting = row.waiting { json.integer("waiting", waiting) }
        if let inbox = row.inbox {
            json.array("longest_waiting") { json in
                for drop in inbox.longest { json.object { drop.write(&$0) } }
            }
            json.integer("left_alone", inbox.leftAlone)
            json.array("left_alone_files") { json in
                for drop in inbox.left { json.object { drop.write(&$0) } }
            }
            if let poll = inbox.poll { json.seconds("poll_s", .seconds(poll)) }
        }
        json.integer("active", row.active)
        json.integer("queued", row[.queued])
        json.integer("running", row[.running])
        json.array("stages") { json in
            for stage in row.activeStages {
                json.object { json in
                    json.text("kind", stage.kind)
                    json.integer("active", stage.jobs.queued + stage.jobs.running)
                    json.integer("queued", stage.jobs.queued)
                    json.integer("running", stage.jobs.running)
                }
            }
        }
        for (key, state) in [
            ("deferred", JobRecord.State.deferred), ("settling", .settling), ("processed", .processed),
            ("failed", .failed), ("lost", .lost),
        ] {
            json.integer(key, row[state])
        }
        if row.unwritten > 0 { json.integer("unwritten", row.unwritten) }
        if row.isBusy { json.flag("inbox_busy", true) }
        if row.isSilent { json.flag("inbox_silent", true) }
        if let outside = row.outside { json.text("outside_hours", outside) }
        if let stalled = row.stalled {
            json.object("stalled") { json in
                json.seconds("for_s", .seconds(stalled.time))
                json.text("text", stalled.text)
                if let job = stalled.job { json.text("job", job) }
                if let stage = stalled.stage { json.text("stage", stage) }
            }
        }
        if !row.slots.isEmpty {
            json.array("awaited_slots") { json in
                for slot in row.slots { json.object { slot.write(&$0) } }
            }
        }
        if let hold = row.hold { json.object("held") { hold.write(&$0) } }
        if !row.heldOn.isEmpty {
            json.array("held_on") { json in
                for hold in row.heldOn { json.object { hold.write(&$0) } }
            }
        }
        guard let record = row.record else { return }
        json.flag("paused", row.paused != nil || !row.pausedOn.isEmpty)
        if !row.pausedOn.isEmpty {
            json.array("paused_on") { json in
                for (node, record) in row.pausedOn {
                    json.object { json in
                        json.text("node", node)
                        NodesReport.write(record, &json)
                    }
                }
            }
        }
        if let failure = row.paused {
            if let since = record.pausedSince { json.text("paused_since", since.iso8601) }
            json.object("failure") { JobJSON.write(failure, &$0) }
        }
        json.text("updated_at", record.updatedAt.iso8601)
    }
}

extension SlotUse {
    fileprivate func write(_ json: inout JSONText) {
        json.text("stage", place.stage)
        json.integer("slots", most)
        for (key, nodes) in [("taken", taken), ("waiting", waiting)] {
            json.object(key) { json in
                for (node, count) in nodes.sorted(by: { $0.key < $1.key }) { json.integer(node, count) }
            }
        }
    }
}

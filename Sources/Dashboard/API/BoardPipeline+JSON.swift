import Control
import PipelineKit

extension BoardPipeline {
    /// What it does, in one word, by what matters most to a person.
    var state: String {
        if paused != nil { return "trouble" }
        if let hold { return hold.kind == .pause ? "paused" : "drained" }
        if stalled != nil { return "stalled" }
        if opens != nil { return "outside_hours" }
        guard let waiting else { return "silent" }
        let isBusy = jobs.queued + jobs.running + jobs.settling + jobs.deferred + waiting.drops > 0
        return isBusy ? "working" : "idle"
    }

    func write(_ json: inout JSONText, today began: Int64) {
        json.text("name", name)
        json.name("file", Array(file))
        json.name("inbox", Array(inbox))
        json.text("state", state)
        if let hold { json.object("hold") { hold.write(&$0) } }
        if let paused { json.object("trouble") { paused.write(&$0, since: pausedSince) } }
        if let stalled { json.object("stalled") { stalled.write(&$0) } }
        if let opens, opens > 0 { json.time("opens_at", opens) }
        if let waiting { json.object("waiting") { waiting.write(&$0) } }
        json.object("jobs") { jobs.write(&$0) }
        json.object("workers") { json in
            json.integer("all", stages.reduce(0) { $0 + $1.workers })
            json.integer("busy", stages.reduce(0) { $0 + $1.running })
        }
        json.object("today") { json in
            json.time("since", began)
            json.integer("processed", today.processed)
            json.integer("failed", today.failed)
            json.integer("bytes", today.bytes)
        }
        if let oldest { json.seconds("oldest_unfinished_s", .seconds(oldest)) }
        if let lastSettled { json.time("last_settled_at", lastSettled) }
        json.object("minutes") { minutes.write(&$0) }
        json.array("free") { json in
            for place in free {
                json.object { json in
                    json.name("folder", Array(place.folder))
                    json.integer("free", place.free)
                    json.integer("total", place.total)
                    json.integer("kept", place.kept)
                }
            }
        }
        json.array("stages") { json in
            for (position, stage) in stages.enumerated() { json.object { stage.write(&$0, at: position) } }
        }
        if let upload { json.object("upload") { upload.write(&$0) } }
    }
}

extension BoardPipeline.Hold {
    func write(_ json: inout JSONText) {
        json.text("kind", kind.rawValue)
        json.text("by", by)
        json.integer("uid", Int(uid))
        json.time("since", since)
        if let until { json.time("until", until) }
        if !reason.isEmpty { json.text("reason", reason) }
        if let node { json.text("node", node) }
    }
}

extension WaitingVerb.Pause {
    func write(_ json: inout JSONText, since: Int64?) {
        json.text("code", code)
        json.text("summary", summary)
        json.text("remedy", remedy)
        if let since { json.time("since", since) }
    }
}

extension WaitingVerb.Stalled {
    fileprivate func write(_ json: inout JSONText) {
        json.seconds("for_s", .seconds(time))
        json.text("text", text)
        if let job { json.text("job", job) }
        if let stage { json.text("stage", stage) }
    }
}

extension BoardPipeline.Waiting {
    fileprivate func write(_ json: inout JSONText) {
        json.integer("drops", drops)
        json.integer("complete", complete)
        json.integer("complete_bytes", completeBytes)
        if let oldest { json.seconds("oldest_s", .seconds(oldest)) }
        json.integer("left_alone", leftAlone)
    }
}

extension BoardPipeline.Jobs {
    fileprivate func write(_ json: inout JSONText) {
        json.integer("queued", queued)
        json.integer("running", running)
        json.integer("deferred", deferred)
        json.integer("settling", settling)
        if let failed { json.integer("failed", failed) }
        if let nextAttempt { json.time("next_attempt_at", nextAttempt) }
    }
}

extension BoardPipeline.Minutes {
    fileprivate func write(_ json: inout JSONText) {
        json.time("last", last)
        json.array("jobs") { json in for count in jobs { json.integer(nil, count) } }
        json.array("failed") { json in for count in failed { json.integer(nil, count) } }
        json.array("bytes") { json in for count in bytes { json.integer(nil, count) } }
    }
}

extension BoardPipeline.Stage {
    fileprivate func write(_ json: inout JSONText, at position: Int) {
        json.integer("stage", position)
        json.text("kind", kind)
        if let label { json.text("label", label) }
        json.integer("workers", workers)
        json.integer("queued", queued)
        json.integer("running", running)
        json.integer("deferred", deferred)
        if let usual { json.seconds("usually_s", .seconds(usual)) }
        json.integer("failed_last_hour", failedLastHour)
    }
}

extension BoardPipeline.Upload {
    fileprivate func write(_ json: inout JSONText) {
        json.integer("max_bytes", most)
        json.array("match") { json in for pattern in match { json.text(nil, pattern) } }
        let word =
            switch folders {
            case .asOne: "as_one"
            case .asFiles: "as_files"
            case .no: "no"
            }
        json.text("folders", word)
        if let depth { json.integer("depth", depth) }
    }
}

import Control
import Files
import PipelineKit

extension BoardVerb.Answer {
    /// The keys of the overview: `daemon`, `files` as far as they are known, `pipelines`.
    func write(_ json: inout JSONText, _ files: FilesVerb.Answer?) {
        json.object("daemon") { json in
            json.text("run", run)
            json.text("version", version)
            json.text("host", host)
            json.text("zone", zone)
            json.integer("utc_offset_s", offset)
            json.time("now", now)
            json.time("started_at", started)
            json.flag("stopping", stopping ?? false)
            if let journal { json.text("journal", journal) }
            if let node { json.text("node", node) }
        }
        write(nodes, &json)
        if let files { write(files, &json) }
        json.array("pipelines") { json in
            for pipeline in pipelines { json.object { pipeline.write(&$0, today: today) } }
        }
    }

    private func write(_ files: FilesVerb.Answer, _ json: inout JSONText) {
        json.object("files") { json in
            files.write(&json)
            if let refused { json.array("refused") { json in for problem in refused { json.text(nil, problem) } } }
        }
    }

    private func write(_ nodes: [BoardNode]?, _ json: inout JSONText) {
        guard let nodes else { return }
        json.array("nodes") { json in
            for node in nodes { json.object { node.write(&$0) } }
        }
    }

    /// The keys of what has changed since: `now`, `files` and `nodes` where they have, `pipelines`.
    func write(
        _ changed: [BoardPipeline], _ files: FilesVerb.Answer?, _ nodes: [BoardNode]?, _ json: inout JSONText
    ) {
        json.time("now", now)
        if let files { write(files, &json) }
        write(nodes, &json)
        json.array("pipelines") { json in
            for pipeline in changed { json.object { pipeline.write(&$0, today: today) } }
        }
    }
}

extension BoardNode {
    fileprivate func write(_ json: inout JSONText) {
        json.text("name", name)
        json.text("host", host)
        json.text("version", version)
        json.time("since", since)
        json.text("state", state.rawValue)
        json.integer("jobs", jobs)
        json.array("paused") { json in
            for one in paused {
                json.object { json in
                    json.text("pipeline", one.pipeline)
                    json.object("trouble") { one.why.write(&$0, since: one.since) }
                }
            }
        }
        json.array("held") { json in
            for one in held {
                json.object { json in
                    json.text("pipeline", one.pipeline)
                    json.object("hold") { one.hold.write(&$0) }
                }
            }
        }
    }
}

extension JSONText {
    /// Nanoseconds since 1970, as RFC 3339 writes a time.
    mutating func time(_ key: String, _ nanoseconds: Int64) {
        text(key, Timestamp(nanoseconds: nanoseconds).iso8601)
    }
}

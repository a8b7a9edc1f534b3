import Files
package import PipelineKit
import SystemPackage

/// What is known besides jobs, as `JobCoding` has those.
extension JSONText {
    package mutating func pipeline(_ record: PipelineRecord) {
        object { json in
            json.text("name", record.name)
            if let source = record.source { json.path("source", source) }
            json.path("inbox", record.inbox)
            json.path("failed", record.failed)
            json.list("stages", record.stages) { $0.text(nil, $1) }
            if let definition = record.definition { json.text("definition", definition) }
            json.integer("waiting", record.waiting)
            if let failure = record.paused { json.value("paused") { $0.failure(failure) } }
            json.time("paused_since", record.pausedSince)
            json.integer("updated_at", record.updatedAt.nanoseconds)
            json.list("works", record.works) { $0.workPlace($1) }
        }
    }

    package mutating func count(_ count: JobCount) {
        object { json in
            json.text("pipeline", count.pipeline)
            json.text("state", count.state.rawValue)
            json.integer("stage", count.stage)
            json.integer("count", count.count)
        }
    }

    package mutating func run(_ run: RunRecord) {
        object { json in
            json.text("boot", run.boot)
            json.integer("process", run.process)
            json.integer("started_at", run.startedAt.nanoseconds)
            json.time("ended_at", run.endedAt)
            json.flag("slots", run.hasSlots)
        }
    }

    package mutating func hold(_ hold: HoldRecord) {
        object { json in
            json.text("pipeline", hold.pipeline)
            json.text("kind", hold.kind.rawValue)
            json.text("by", hold.by)
            json.integer("uid", UInt64(hold.user))
            json.integer("since", hold.since.nanoseconds)
            json.time("until", hold.until)
            json.text("reason", hold.reason)
            if let node = hold.node { json.text("node", node) }
        }
    }

    package mutating func audit(_ entry: AuditEntry) {
        object { json in
            json.integer("at", entry.at.nanoseconds)
            json.integer("uid", UInt64(entry.user))
            json.text("user", entry.name)
            json.text("verb", entry.verb)
            json.text("arguments", entry.arguments)
            if let result = entry.result { json.text("result", result) }
            if let behalf = entry.behalf {
                json.object("for") { json in
                    json.text("name", behalf.name)
                    json.text("role", behalf.role)
                    json.text("address", behalf.address)
                }
            }
            if let number = entry.number { json.integer("number", number) }
        }
    }

    mutating func time(_ key: String, _ time: Timestamp?) {
        if let time { integer(key, time.nanoseconds) }
    }

    mutating func list<Element>(
        _ key: String, _ elements: [Element], _ write: (inout JSONText, Element) -> Void
    ) {
        if elements.isEmpty { return }
        array(key) { json in
            for element in elements { write(&json, element) }
        }
    }
}

extension JSONValue {
    package var pipeline: PipelineRecord? {
        var members = JSONMembers(self)
        guard let name = members["name", \.string], let inbox = members["inbox", \.path],
            let failed = members["failed", \.path], let waiting = members["waiting", { $0.integer(Int.self) }],
            let updatedAt = members["updated_at", \.time]
        else { return nil }
        var record = PipelineRecord(
            name: name, source: members["source", \.path], inbox: inbox, failed: failed,
            stages: members["stages", { $0.all(\.string) }] ?? [], waiting: waiting,
            paused: members["paused", \.failure], pausedSince: members["paused_since", \.time], updatedAt: updatedAt)
        record.definition = members["definition", \.string]
        record.works = members["works", { $0.all(\.workPlace) }] ?? []
        return members.makeSense ? record : nil
    }

    package var count: JobCount? {
        guard let object, let pipeline = object["pipeline"]?.string, let state = object["state"]?.jobState,
            let stage = object["stage"]?.integer(Int.self), let count = object["count"]?.integer(Int.self)
        else { return nil }
        return JobCount(pipeline: pipeline, state: state, stage: stage, count: count)
    }

    package var run: RunRecord? {
        var members = JSONMembers(self)
        guard let boot = members["boot", \.string], let process = members["process", { $0.integer(Int.self) }],
            let startedAt = members["started_at", \.time], let hasSlots = members["slots", \.bool]
        else { return nil }
        let run = RunRecord(
            boot: boot, process: process, startedAt: startedAt, endedAt: members["ended_at", \.time],
            hasSlots: hasSlots)
        return members.makeSense ? run : nil
    }

    package var hold: HoldRecord? {
        var members = JSONMembers(self)
        guard let pipeline = members["pipeline", \.string],
            let kind = members["kind", { $0.string.flatMap { HoldRecord.Kind(rawValue: $0) } }],
            let by = members["by", \.string], let user = members["uid", { $0.integer(UInt32.self) }],
            let since = members["since", \.time], let reason = members["reason", \.string]
        else { return nil }
        let hold = HoldRecord(
            pipeline: pipeline, kind: kind, by: by, user: user, since: since, until: members["until", \.time],
            reason: reason, on: members["node", \.string])
        return members.makeSense ? hold : nil
    }

    package var audit: AuditEntry? {
        var members = JSONMembers(self)
        guard let time = members["at", \.time], let user = members["uid", { $0.integer(UInt32.self) }],
            let name = members["user", \.string], let verb = members["verb", \.string],
            let arguments = members["arguments", \.string]
        else { return nil }
        let entry = AuditEntry(
            at: time, user: user, name: name, verb: verb, arguments: arguments, result: members["result", \.string],
            behalf: members["for", \.behalf], number: members["number", { $0.integer(Int64.self) }])
        return members.makeSense ? entry : nil
    }

    private var behalf: Behalf? {
        guard let object, let name = object["name"]?.string, let role = object["role"]?.string,
            let address = object["address"]?.string
        else { return nil }
        return Behalf(name: name, role: role, address: address)
    }

    var time: Timestamp? { integer(Int64.self).map { Timestamp(nanoseconds: $0) } }
    var fileName: FileName? { bytes.flatMap { FileName($0) } }
    var jobState: JobRecord.State? { string.flatMap { JobRecord.State(rawValue: $0) } }
}

import Files
package import PipelineKit
import SystemPackage

/// A job's whole record as JSON, for those who are told of it. Keys are those of the journal's columns, times
/// nanoseconds since 1970; what is empty is left out, and what makes no sense reads as nil.
extension JSONText {
    package mutating func job(_ record: JobRecord) {
        object { json in
            json.text("id", record.id.text)
            json.text("pipeline", record.pipeline)
            if let slot = record.slot { json.text("slot", slot.text) }
            json.bytes("name", record.drop.name.bytes)
            json.list("folders", record.drop.folders) { $0.bytes(nil, $1.bytes) }
            json.integer("size", record.drop.size)
            if let producer = record.producer { json.text("producer", producer) }
            json.integer("dropped_at", record.drop.droppedAt.nanoseconds)
            json.integer("device", record.identity.device)
            json.integer("inode", record.identity.inode)
            json.integer("claimed_at", record.claimedAt.nanoseconds)
            json.time("finished_at", record.finishedAt)
            json.text("state", record.state.rawValue)
            json.integer("stage", record.stage)
            json.integer("failures", record.failures)
            json.integer("recoveries", record.recoveries)
            json.time("next_attempt", record.nextAttempt)
            if let failure = record.failure { json.value("failure") { $0.failure(failure) } }
            if let stage = record.failedStage { json.text("failed_stage", stage) }
            if let payload = record.payload { json.value("payload") { $0.payload(payload) } }
            if let inputs = record.inputs { json.value("inputs") { $0.inputs(inputs) } }
            json.list("intents", record.intents) { $0.intent($1) }
            json.list("outputs", record.outputs) { $0.path(nil, $1) }
            if let original = record.original { json.path("original", original) }
            if let state = record.originalState { json.value("original_state") { $0.original(state) } }
            if !record.digests.isEmpty { json.strings("digests", record.digests) }
            if !record.facts.isEmpty { json.strings("facts", record.facts) }
            json.text("definition", record.definition.text)
            if let id = record.retryOf { json.text("retry_of", id.text) }
            if let id = record.replayOf { json.text("replay_of", id.text) }
            if let dismissal = record.dismissed { json.value("dismissed") { $0.dismissal(dismissal) } }
            if let node = record.node { json.text("node", node) }
            json.list("history", record.history) { $0.transition($1) }
        }
    }

    package mutating func dismissal(_ dismissal: Dismissal) {
        object { json in
            json.text("by", dismissal.by)
            json.integer("at", dismissal.at.nanoseconds)
        }
    }
}

extension JSONValue {
    package var job: JobRecord? {
        var members = JSONMembers(self)
        guard let id = members.id("id"), let pipeline = members["pipeline", \.string],
            let name = members["name", \.fileName], let size = members["size", { $0.integer(Int64.self) }],
            let droppedAt = members["dropped_at", \.time], let claimedAt = members["claimed_at", \.time],
            let device = members["device", { $0.integer(UInt64.self) }],
            let inode = members["inode", { $0.integer(UInt64.self) }],
            let state = members["state", \.jobState], let definition = members["definition", \.string]
        else { return nil }
        let drop = Drop(
            name: name, folders: members["folders", { $0.all(\.fileName) }] ?? [], size: size, droppedAt: droppedAt)
        // A record begins as one that was just claimed; its folder is not part of it.
        var record = JobRecord(
            claimed: Job(id: id, pipeline: pipeline, drop: drop, claimedAt: claimedAt, folder: FilePath()),
            identity: FileIdentity(device: device, inode: inode), definition: Definition(text: definition))
        record.producer = members["producer", \.string]
        record.slot = members.id("slot")
        record.finishedAt = members["finished_at", \.time]
        record.state = state
        record.stage = members["stage", { $0.integer(Int.self) }] ?? 0
        record.failures = members["failures", { $0.integer(Int.self) }] ?? 0
        record.recoveries = members["recoveries", { $0.integer(Int.self) }] ?? 0
        record.nextAttempt = members["next_attempt", \.time]
        record.failure = members["failure", \.failure]
        record.failedStage = members["failed_stage", \.string]
        record.payload = members["payload", \.payload]
        record.inputs = members["inputs", \.inputs]
        record.intents = members["intents", { $0.all(\.intent) }] ?? []
        record.outputs = members["outputs", { $0.all(\.path) }] ?? []
        record.original = members["original", \.path]
        record.originalState = members["original_state", \.original]
        record.digests = members["digests", \.strings] ?? [:]
        record.facts = members["facts", \.strings] ?? [:]
        record.retryOf = members.id("retry_of")
        record.replayOf = members.id("replay_of")
        record.dismissed = members["dismissed", \.dismissal]
        record.node = members["node", \.string]
        record.history = members["history", { $0.all(\.transition) }] ?? []
        return members.makeSense ? record : nil
    }

    package var dismissal: Dismissal? {
        guard let by = object?["by"]?.string, let time = object?["at"]?.time else { return nil }
        return Dismissal(by: by, at: time)
    }
}

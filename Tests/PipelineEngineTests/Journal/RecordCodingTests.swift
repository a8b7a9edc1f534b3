import Files
import FoundationEssentials
import PipelineKit
import SystemPackage
import Testing

@testable import Journal

@Suite("Records as JSON") struct RecordCodingTests {
    /// What comes of a value on its way through a line of JSON.
    private func sent<Record>(
        _ write: (inout JSONText) -> Void, _ read: (JSONValue) -> Record?
    ) throws -> Record? {
        let value = try JournalSamples.required(JSONValue(write))
        let line = try JSONEncoder().encode([value])
        return try JournalSamples.required(JSONDecoder().decode([JSONValue].self, from: line).first.map(read))
    }

    @Test("Every field of a job comes back")
    func jobs() throws {
        var slotted = try JournalSamples.job(3)
        slotted.slot = try JournalSamples.id(7)
        slotted.inputs = nil
        for record in [try JournalSamples.job(1), try JournalSamples.fullJob(2), slotted] {
            #expect(try sent({ $0.job(record) }, \.job) == record)
        }
    }

    @Test("Every field of a pipeline comes back")
    func pipelines() throws {
        let odd = FilePath(bytes: [0x2F, 0xFF, 0x0A])
        var record = PipelineRecord(
            name: "a \"b\"", source: odd, inbox: odd, failed: "/f", stages: ["run", "move"], waiting: 3,
            paused: Failure(.environment, code: "disk", summary: "Full.", remedy: "Free space."),
            pausedSince: JournalSamples.time(1), updatedAt: JournalSamples.time(2))
        record.works = [WorkPlace(path: odd, inbox: .max, fileSystem: 1, mount: 2)]
        record.works[0].leftBy = RunRecord(boot: "b", process: 3, startedAt: .now(), hasSlots: false)
        #expect(try sent({ $0.pipeline(record) }, \.pipeline) == record)
        let plain = PipelineRecord(
            name: "a", inbox: "/i", failed: "/f", stages: [], waiting: 0, updatedAt: JournalSamples.time(2))
        #expect(try sent({ $0.pipeline(plain) }, \.pipeline) == plain)
    }

    @Test("Counts, runs, holds and changes come back")
    func others() throws {
        let count = JobCount(pipeline: "a", state: .running, stage: 2, count: 7)
        #expect(try sent({ $0.count(count) }, \.count) == count)
        for ended in [nil, JournalSamples.time(2)] {
            let run = RunRecord(boot: "b", process: 4, startedAt: JournalSamples.time(1), endedAt: ended)
            #expect(try sent({ $0.run(run) }, \.run) == run)
            let hold = HoldRecord(
                pipeline: "a", kind: .drain, by: "anna", user: .max, since: JournalSamples.time(1), until: ended,
                reason: "RIP is down")
            #expect(try sent({ $0.hold(hold) }, \.hold) == hold)
            let entry = AuditEntry(
                at: JournalSamples.time(1), user: 0, name: "root", verb: "hold", arguments: #"{"kind":"pause"}"#,
                result: ended.map { _ in "done" },
                behalf: ended.map { _ in Behalf(name: "anna-laptop", role: "operate", address: "::1") },
                number: ended.map { _ in 7 })
            #expect(try sent({ $0.audit(entry) }, \.audit) == entry)
        }
    }

    @Test("What makes no sense is no record", arguments: ["state", "size", "failure", "history", "retry_of", "name"])
    func nonsense(key: String) throws {
        let record = try JournalSamples.fullJob(2)
        var members = try JournalSamples.required(JSONValue { $0.job(record) }?.object)
        members[key] = .bool(true)
        #expect(JSONValue.object(members).job == nil)
        #expect(JSONValue.null.job == nil && JSONValue.array([]).pipeline == nil)
    }
}

import Files
import Glibc
import PipelineKit
import SystemPackage

@testable import Journal

/// Records for tests of journals.
enum JournalSamples {
    /// The n-th job's id; ids sort as their numbers do.
    static func id(_ number: Int) throws -> JobID {
        let digits = String(number)
        return try required(JobID("00000000" + String(repeating: "0", count: 18 - digits.count) + digits))
    }

    /// The n-th job, just claimed, at n seconds.
    static func job(
        _ number: Int, pipeline: String = "scans", state: JobRecord.State = .queued, stage: Int = 0
    ) throws -> JobRecord {
        let drop = Drop(
            name: try required(FileName("report-\(number).pdf")), size: Int64(number), droppedAt: time(number))
        let job = Job(
            id: try id(number), pipeline: pipeline, drop: drop, claimedAt: time(number), folder: "/work")
        var record = JobRecord(
            claimed: job, identity: FileIdentity(device: 7, inode: UInt64(number)), definition: "abc")
        record.state = state
        record.stage = stage
        if state.isFinal { record.finishedAt = time(number + 1) }
        return record
    }

    /// The same as a journal tells of it: where nodes share one, with the node that has it.
    static func told(_ job: JobRecord, by journal: any JournalReading) -> JobRecord {
        (journal as? any SharedJournal).map { job.on($0.node) } ?? job
    }

    /// The file that such a job is made of.
    static func file(of job: JobRecord) -> SentFile {
        var status = stat()
        (status.st_mode, status.st_size) = (S_IFREG, off_t(job.drop.size))
        var file = SentFile(job.identity, into: "/in", like: status)
        file.modified = job.modified
        return file
    }

    static func pipeline(_ name: String) -> PipelineRecord {
        PipelineRecord(name: name, inbox: "/in", failed: "/failed", stages: [], waiting: 0, updatedAt: time(1))
    }

    /// A job that has something in every field, names and paths that are no text among them.
    static func fullJob(_ number: Int) throws -> JobRecord {
        let odd = try required(FileName([0x66, 0xFF, 0xC3, 0x28, 0x0A, 0x22, 0x5C, 0x62]))
        let folders = [try required(FileName("in box")), odd]
        let drop = Drop(name: odd, folders: folders, size: .max, droppedAt: Timestamp(nanoseconds: -1))
        let job = Job(
            id: try id(number), pipeline: "ein \"Ordner\" \\ 🗂", drop: drop, claimedAt: time(number),
            folder: "/spool/x",
            producer: "hoff\"mann")
        var record = JobRecord(
            claimed: job, identity: FileIdentity(device: .max, inode: .max - 1), definition: "fingerprint")
        record.finishedAt = Timestamp(nanoseconds: .max)
        record.state = .failed
        record.stage = 3
        record.failures = 4
        record.recoveries = 5
        record.nextAttempt = time(900)
        record.failure = Failure(
            .transient, code: "a.b", summary: "Line\none\u{0}\u{1F}.", remedy: "Do \"it\".",
            detail: "back\\slash \u{7F}\u{9B}\u{202E}→é𝄞")
        record.failedStage = "unpack"
        record.payload = try fullPayload(odd)
        record.inputs = [1: Payload(folder: "/w/1"), 12: try fullPayload(odd)]
        let source: FilePath = FilePath("/spool/x").appending(odd)
        record.intents = [
            Intent(role: .output, source: source, target: "/out/a b", identity: FileIdentity(device: 1, inode: .max)),
            Intent(role: .sidecar, source: "/w/c", target: source, identity: FileIdentity(device: 0, inode: 0)),
            Intent(role: .original, source: "/w/o", target: "/p/o", identity: FileIdentity(device: 2, inode: 3)),
        ]
        record.outputs = ["/out/a b", source]
        record.original = source
        record.digests = ["sha256": "00ff", "md5": "aa"]
        record.facts = ["integrity": "unverifiable"]
        record.retryOf = try id(1)
        record.replayOf = try id(2)
        var left = stat()
        (left.st_ino, left.st_size) = (.max, 12)
        left.st_mtim = timespec(tv_sec: .min, tv_nsec: 999_999_999)
        record.originalState = OriginalState(left)
        record.history = [
            Transition("claimed", at: time(1), duration: .seconds(1), code: "a-b"),
            Transition("done", at: time(2), stage: "unpack", duration: .nanoseconds(1_234_567_890), note: "12 files ü"),
            Transition("failed", at: time(3), stage: "checksum", duration: .zero, note: ""),
        ]
        record.history[2].repeats(at: time(4))
        return record
    }

    static func fullPayload(_ name: FileName) throws -> Payload {
        var payload = Payload(file: name, in: FilePath("/spool/x").appending(name))
        payload.isDrop = true
        payload.sidecars = [
            Sidecar(suffix: ".sha256", parts: [.text("# \"made\"\n"), .escapeMark, .name(.checksumList), .text("")]),
            Sidecar(suffix: ".sfv", parts: [.name(.verbatim), .text(" 352441C2\n")]),
            Sidecar(suffix: ".json", parts: [.text("{"), .name(.jsonMember("path"))]), Sidecar(suffix: "", parts: []),
        ]
        payload.lines = [
            ListLine(list: name, start: [.escapeMark], digest: "00ff", end: [.text("  "), .name(.checksumList)])
        ]
        payload.destination = FilePath("/out").appending(name)
        payload.digests = ["sha256": "00ff"]
        payload.facts = ["type": "text/plain"]
        payload.copies = [
            PayloadCopy(
                path: "/spool/x/.1-copy/1", of: "/spool/x/.0", isFolder: true, sidecars: payload.sidecars,
                lines: payload.lines, destination: "/box")
        ]
        return payload
    }

    static func time(_ seconds: Int) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 123_456_789) }

    /// Something that must be there.
    struct Absent: Error {}

    static func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Absent() }
        return value
    }
}

extension JobRecord {
    /// The same as a shared journal tells of it.
    func on(_ node: String?) -> JobRecord {
        var job = self
        job.node = node
        return job
    }
}

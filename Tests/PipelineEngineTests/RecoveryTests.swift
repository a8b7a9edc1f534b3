import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// What a start makes of work folders and journal records, one case after another.
@Suite("Recovery") struct RecoveryTests {
    private let scratch: ScratchFolder
    private let pipeline: Pipeline
    private let work: WorkFolder
    private let ids = JobIDGenerator()

    private static let killed = RunRecord(boot: "now", process: 1, startedAt: Timestamp(nanoseconds: 1))
    private static let stopped = RunRecord(
        boot: "now", process: 1, startedAt: Timestamp(nanoseconds: 1), endedAt: Timestamp(nanoseconds: 2))

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("inbox")
        var pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")),
            failed: scratch.path("failed"), stages: [.passing, .passing, .passing])
        pipeline.definition = "as it is"
        self.pipeline = pipeline
        work = try WorkFolder(for: pipeline)
    }

    private func reconcile(
        _ records: [JobRecord], _ folders: Recovery.Folders = Recovery.Folders(), after run: RunRecord?,
        boot: String = "now", remounted isRemounted: Bool = false
    ) throws -> Recovery.Findings {
        try Recovery(of: pipeline, in: work, lastRun: run, boot: boot, isRemounted: isRemounted)
            .reconcile(records, folders)
    }

    /// A job folder with its drop, and the record of a job that has stood at a stage.
    private func found(_ name: String, _ change: (inout JobRecord) throws -> Void = { _ in }) throws -> JobRecord {
        let job = job(try name.fileName)
        try scratch.write(Array("x".utf8), to: job.original)
        var record = JobRecord(claimed: job, identity: .unknown, definition: "as it is")
        try change(&record)
        return record
    }

    private func job(_ name: FileName) -> Job {
        let id = ids.next()
        let drop = Drop(name: name, size: 1, droppedAt: id.time)
        return Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: work.folder(id))
    }

    @Test("A job without a record is adopted, its scratch removed")
    func adopts() throws {
        let record = try found("a")
        try scratch.write(Array("half".utf8), to: work.folder(record.id).pushing(".1-fake/half"))
        let findings = try reconcile([], after: Self.killed)
        #expect(findings.adopted.map(\.id) == [record.id])
        #expect(findings.resumed.isEmpty)
        #expect(try scratch.tree(".dropmill/test/active/\(record.id)") == ["a"])
    }

    @Test("A job with its record goes on at its first unfinished stage, with what earlier ones made")
    func resumes() throws {
        var made = FilePath()
        let record = try found("a") { record in
            made = work.folder(record.id).appending(".1-fake")
            record.stage = 1
            record.failures = 2
            record.payload = Payload(folder: made)
        }
        try scratch.write(Array("made".utf8), to: made.pushing("file"))
        try scratch.write(Array("half".utf8), to: work.folder(record.id).pushing(".2-fake/half"))
        let resumed = try #require(try reconcile([record], after: Self.stopped).resumed.first)
        #expect(resumed.state == .queued(stage: resumed.record.stage, failures: resumed.record.failures))
        #expect(resumed.record == record, "a run that ended in order counts nothing")
        #expect(try scratch.tree(".dropmill/test/active/\(record.id)") == [".1-fake/", ".1-fake/file", "a"])
    }

    @Test("It begins again where what was made may not be whole, or would be made differently now", arguments: 0..<3)
    func startsAgain(reason: Int) throws {
        let record = try found("a") { record in
            record.stage = 1
            record.payload = Payload(folder: work.folder(record.id).appending(".1-fake"))
            if reason == 1 { record.definition = "was it is" }
        }
        if reason != 2 {
            try scratch.write(Array("made".utf8), to: work.folder(record.id).pushing(".1-fake/file"))
        }
        let findings = try reconcile([record], after: Self.stopped, boot: reason == 0 ? "another" : "now")
        let resumed = try #require(findings.resumed.first).record
        #expect(resumed.stage == 0)
        #expect(resumed.payload == nil)
        #expect(resumed.definition == "as it is")
        #expect(try scratch.tree(".dropmill/test/active/\(record.id)") == ["a"])
        #expect(findings.changed == [resumed])
    }

    /// The fingerprints of the stages that it ran through; where it goes on, and with the output of which stage.
    @Test(
        "Of a changed pipeline it goes on behind the stages that are the same",
        arguments: [
            ("as it was", 2, 2), ("as was is", 1, 1), ("was it is", 0, 0), ("as it", 2, 2), ("as it is so", 2, 2),
            ("", 0, 0),
        ])
    func goesOn(definition: String, stage: Int, made: Int) throws {
        let record = try found("a") { record in
            let folder = work.folder(record.id)
            record.definition = Definition(text: definition)
            record.stage = 2
            record.inputs = [1: Payload(folder: folder.appending(".1-fake"))]
            record.payload = Payload(folder: folder.appending(".2-fake"))
        }
        for number in 1...2 {
            try scratch.write(Array("made".utf8), to: work.folder(record.id).pushing(FilePath(".\(number)-fake/file")))
        }
        let resumed = try #require(try reconcile([record], after: Self.stopped).resumed.first).record
        #expect(resumed.stage == stage)
        #expect(resumed.payload?.root.lastComponent?.string == (made == 0 ? nil : ".\(made)-fake"))
        #expect(resumed.definition == "as it is")
        let history = resumed.history.map { "\($0.event): \($0.note ?? "")" }
        #expect(history == (stage < 2 ? ["begun again: the pipeline was changed"] : []))
        let left = try scratch.tree(".dropmill/test/active/\(record.id)").filter { $0.hasSuffix("-fake/") }
        #expect(left == (1...2).filter { $0 <= made }.map { ".\($0)-fake/" })
    }

    @Test("Where the payload in between is gone it goes on behind an earlier stage")
    func goesFurtherBack() throws {
        let record = try found("a") { record in
            let folder = work.folder(record.id)
            record.definition = "as it was"
            record.stage = 3
            record.inputs = [
                1: Payload(folder: folder.appending(".1-fake")), 2: Payload(folder: folder.appending(".2-fake")),
            ]
            record.payload = Payload(folder: folder.appending(".3-fake"))
        }
        for number in [1, 3] {
            try scratch.write(Array("made".utf8), to: work.folder(record.id).pushing(FilePath(".\(number)-fake/file")))
        }
        let resumed = try #require(try reconcile([record], after: Self.stopped).resumed.first).record
        #expect(resumed.stage == 1)
        #expect(resumed.payload?.root.lastComponent?.string == ".1-fake")
        #expect(resumed.inputs == [:])
    }

    /// Recoveries so far and the state on record; what it is counted to after a kill, and after an orderly stop.
    @Test(
        "A kill counts once for every job, then only for those that ran",
        arguments: [
            (0, JobRecord.State.queued, 1, 0), (0, .running, 1, 0), (1, .queued, 1, 1), (1, .running, 2, 1),
            (1, .deferred, 1, 1),
        ])
    func counts(before: Int, state: JobRecord.State, killed: Int, stopped: Int) throws {
        for (run, expected) in [(Self.killed, killed), (Self.stopped, stopped)] {
            let record = try found("a") { record in
                record.recoveries = before
                record.state = state
            }
            let findings = try reconcile([record], after: run)
            let resumed = try #require(findings.resumed.first { $0.record.id == record.id })
            #expect(resumed.record.recoveries == expected)
            #expect(resumed.isQuarantined == (expected >= 2))
            #expect(findings.changed.contains { $0.id == record.id } == (expected != before || state == .running))
        }
    }

    @Test("Past the limit a job fails, and says how often the daemon stopped")
    func limit() throws {
        let record = try found("poison") { record in
            record.recoveries = 2
            record.state = .running
        }
        let resumed = try #require(try reconcile([record], after: Self.killed).resumed.first)
        guard case .settling(.failed(let failure)) = resumed.state else {
            Issue.record("\(resumed.state)")
            return
        }
        #expect(failure.summary == "The daemon stopped 3 times while this job was running.")
        #expect(failure.class == .file)
    }

    @Test("What was being settled is rolled forward")
    func rollsForward() throws {
        let failure = Failure.file("test.bad", "Bad.")
        let record = try found("a") { record in
            record.state = .settling
            record.failure = failure
        }
        let findings = try reconcile([record], after: Self.killed)
        #expect(findings.resumed.map(\.state) == [.settling(.failed(failure))])
        #expect(findings.warnings.isEmpty)
    }

    @Test("What is left alone says so once, and no more when it goes on")
    func leftAlone() throws {
        let record = try found("a") { record in
            record.state = .settling
            record.failure = .file("test.bad", "Bad.")
            record.recoveries = Recovery.settlementLimit
        }
        var left = try #require(try reconcile([record], after: Self.stopped).changed.first)
        #expect(left.isLeftAlone)
        #expect(try reconcile([left], after: Self.stopped).changed.isEmpty)
        left.recoveries = 1
        let goesOn = try reconcile([left], after: Self.stopped)
        #expect(goesOn.resumed.map(\.record.isLeftAlone) == [false])
        #expect(goesOn.changed.map(\.isLeftAlone) == [false])
    }

    /// Recoveries so far; after a kill: to how many it is counted, and whether it is settled alone, or not at all.
    @Test(
        "A settlement counts kills too; past the limit it is left alone",
        arguments: [(0, 1, false), (1, 2, true), (2, 2, true), (3, 3, true), (10, nil, false)])
    func countsSettlements(before: Int, after: Int?, isQuarantined: Bool) throws {
        let record = try found("a") { record in
            record.state = .settling
            record.recoveries = before
            record.intents = [
                Intent(
                    role: .original, source: work.folder(record.id).appending(try "a".fileName),
                    target: scratch.path("processed/a"), identity: .unknown)
            ]
        }
        let stopped = try reconcile([record], after: Self.stopped)
        #expect(stopped.resumed.map(\.record) == (after == nil ? [] : [record]))
        let killed = try reconcile([record], after: Self.killed)
        #expect(killed.resumed.map(\.record.recoveries) == [after].compactMap { $0 })
        #expect(killed.resumed.map(\.isQuarantined) == (after == nil ? [] : [isQuarantined]))
        #expect(killed.changed.isEmpty == (after == before))
        #expect(killed.parked == (after == nil ? 1 : 0))
        #expect(killed.warnings.count == killed.parked)
        #expect(killed.warnings.allSatisfy { $0.contains("'\(work.folder(record.id).text)'") })
        // Somebody took it out, as the warning says.
        guard after == nil else { return }
        try Folder.remove(work.folder(record.id))
        #expect(try reconcile([record], after: Self.stopped).changed.map(\.state) == [.lost])
    }

    /// Source and target, from the scratch folder on; `JOB`: the job's folder.
    @Test(
        "What a journal says to move from or to elsewhere is not moved, and said loudly",
        arguments: [
            ("secret", "processed/a"), ("JOB/../../../../secret", "processed/a"), ("JOB/a", "out-evil/a"),
            ("JOB/a", "processed/../elsewhere/a"), ("JOB/a", "processed-evil/a"), ("JOB", "processed/a"),
        ])
    func forged(source: String, target: String) async throws {
        try scratch.write("secret", to: "secret")
        for folder in ["processed", "failed", "elsewhere", "processed-evil", "out-evil"] {
            try scratch.makeFolder(folder)
        }
        let record = try found("a") { record in
            let job = ".dropmill/test/active/\(record.id)"
            let from = scratch.path(source.hasPrefix("JOB") ? job + source.dropFirst(3) : source)
            record.state = .settling
            record.intents = [
                Intent(
                    role: .original, source: from, target: scratch.path(target),
                    identity: FileIdentity.of(from) ?? .unknown)
            ]
        }
        let before = try scratch.tree()
        let findings = try reconcile([record], after: Self.killed)
        #expect(findings.resumed.isEmpty)
        #expect(findings.parked == 1)
        #expect(
            findings.warnings.allSatisfy { $0.contains("(intent.outside)") && $0.contains("'\(scratch.path.text)/") })
        #expect(findings.warnings.count == 1)
        #expect(try scratch.tree() == before)
    }

    @Test("What a journal says that stages made is not believed where it lies elsewhere")
    func forgedPayload() throws {
        try scratch.write("secret", to: "secret")
        let record = try found("a") { record in
            record.stage = 1
            record.payload = Payload(file: try "secret".fileName, in: scratch.path)
        }
        let resumed = try #require(try reconcile([record], after: Self.stopped).resumed.first).record
        #expect(resumed.payload == nil)
        #expect(resumed.stage == 0)
    }

    @Test("Before its intents are on record a settlement has moved nothing: what is not on the disk is made anew")
    func settlesAnew() throws {
        let record = try found("a") { record in
            record.state = .settling
            record.stage = 3
            record.payload = Payload(folder: work.folder(record.id).appending(".3-fake"))
        }
        try scratch.write("made", to: ".dropmill/test/active/\(record.id)/.3-fake/file")
        let same = try #require(try reconcile([record], after: Self.stopped).resumed.first)
        #expect(same.state == .queued(stage: 3, failures: 0))
        #expect(same.record.stage == 3)
        #expect(same.record.payload == record.payload)
        let rebooted = try #require(try reconcile([record], after: Self.killed, boot: "another").resumed.first)
        #expect(rebooted.record.stage == 0)
        #expect(rebooted.record.payload == nil)
        // A run that ended in order brought them to the disk; one that was killed did not.
        for (run, stage) in [(Self.stopped, 3), (Self.killed, 0)] {
            try scratch.write("made", to: ".dropmill/test/active/\(record.id)/.3-fake/file")
            let resumed = try #require(try reconcile([record], after: run, remounted: true).resumed.first)
            #expect(resumed.record.stage == stage)
        }
    }

    @Test("Jobs that no earlier run of the journal knows are said loudly", arguments: [true, false])
    func newJournal(isNew: Bool) throws {
        _ = try found("a")
        _ = try found("b")
        let findings = try reconcile([], after: isNew ? nil : Self.killed)
        #expect(findings.adopted.count == 2)
        #expect(findings.warnings.count == (isNew ? 1 : 0))
        #expect(findings.warnings.allSatisfy { $0.contains("2 jobs were found in the work folder") })
    }

    @Test(
        "A settlement whose folder is gone is over only where everything lies at its target", arguments: [true, false])
    func settlesWithoutFolder(isMoved: Bool) throws {
        let job = job(try "a".fileName)
        let target = scratch.path("processed/a")
        if isMoved { try scratch.write(Array("x".utf8), to: target) }
        let identity = FileIdentity.of(target) ?? FileIdentity(device: 1, inode: 1)
        var record = JobRecord(claimed: job, identity: .unknown, definition: "as it is")
        record.state = .settling
        record.intents = [Intent(role: .original, source: job.original, target: target, identity: identity)]
        let findings = try reconcile([record], after: Self.killed)
        #expect(findings.resumed.map(\.state) == (isMoved ? [.settling(.processed)] : []))
        // The kill counts also for a job that is being settled.
        #expect(findings.changed.map(\.state) == [isMoved ? .settling : .lost])
    }

    @Test("A record whose folder is gone has vanished; a power cut may have put its drop back, so that is no news then")
    func vanishes() throws {
        let record = try found("a")
        try Folder.remove(work.folder(record.id))
        let findings = try reconcile([record], after: Self.killed)
        #expect(findings.changed.map(\.state) == [.lost])
        #expect(findings.warnings.count == 1)
        #expect(try reconcile([record], after: Self.killed, boot: "another").warnings.isEmpty)
    }

    @Test(
        "A job's folder that cannot be recovered is left alone and reported, and no other job waits for it",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func disorder() throws {
        let bad = try found("a")
        let good = try found("b")
        let mount = try TemporaryMount(
            tmpfs: "size=1m", at: work.folder(bad.id).appending(".1-unpack"))
        defer { withExtendedLifetime(mount) {} }
        let findings = try reconcile([bad, good], after: Self.killed)
        #expect(findings.resumed.map(\.record.id) == [good.id])
        #expect(findings.parked == 1)
        #expect(findings.warnings.count == 1)
        #expect(
            findings.warnings.first?.contains("'\(work.folder(bad.id).text)' cannot be recovered") == true)
        #expect(Folder.kind(of: work.folder(bad.id).appending(try "a".fileName)) == .regular)
    }

    @Test("Where what is missing may be away with its file system, no job is given up")
    func away() throws {
        let record = try found("a")
        work.release()
        try Folder.remove(work.path)
        let fresh = try WorkFolder(for: pipeline)
        let recovery = Recovery(of: pipeline, in: fresh, lastRun: Self.killed, boot: "now", mayBeAway: true)
        let findings = try recovery.reconcile([record])
        #expect(findings.changed.isEmpty)
        #expect(findings.resumed.isEmpty)
        #expect(findings.stranded == [record.id])
    }

    @Test("Empty job folders go, strangers stay")
    func leftovers() throws {
        try scratch.makeFolder(".dropmill/test/active/\(ids.next())")
        try scratch.makeFolder(".dropmill/test/active/not-a-job")
        let findings = try reconcile([], after: Self.killed)
        #expect(findings.adopted.isEmpty)
        #expect(findings.warnings.count == 1)
        #expect(try Folder.names(in: work.active).map(\.text) == ["not-a-job"])
    }
}

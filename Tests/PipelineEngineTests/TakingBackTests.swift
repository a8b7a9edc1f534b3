import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// A job of several outputs publishes all of them or none.
@Suite("Taking back") struct TakingBackTests {
    /// A job with a copy and a payload of its own, which cannot be published: its folder's name is too long.
    private func half(_ harness: SpoolHarness, copyTo folder: String) throws -> Settlement {
        let job = try harness.job(["drop": "content", ".1-copy/1/drop": "copy", ".2-fake/made": "made"])
        var payload = Payload(file: try "made".fileName, in: job.folder.appending(".2-fake"))
        payload.copies = [
            PayloadCopy(
                path: job.folder.pushing(".1-copy/1/drop"), of: job.original, isFolder: false,
                companions: [Companion(suffix: ".sha256", parts: [.text("digest")])],
                destination: harness.scratch.path(folder))
        ]
        payload.destination = harness.scratch.path(String(repeating: "x", count: 300))
        return harness.settlement(of: job, payload)
    }

    @Test(
        "Where one output cannot be published the others are taken back, here or on another file system",
        arguments: ["outbox", "other/outbox"])
    func takesBack(to outbox: String) throws {
        let harness = try SpoolHarness { pipeline, _ in pipeline.durability = .full }
        let scratch = harness.scratch
        let isElsewhere = outbox.hasPrefix("other")
        guard !isElsewhere || TemporaryMount.isPossible else { return }
        let mount = try isElsewhere ? TemporaryMount(tmpfs: "size=16m", at: scratch.path("other")) : nil
        defer { withExtendedLifetime(mount) {} }
        let (settlement, result) = harness.settle(try half(harness, copyTo: outbox))
        guard case .failed(let failure) = result else {
            Issue.record("settled in a folder that cannot be")
            return
        }
        #expect(failure.class == .file)
        #expect(failure.remedy.contains("shorter name"))
        #expect(try scratch.tree(outbox) == [])
        #expect(Folder.kind(of: settlement.job.folder.pushing(".1-copy/1/drop")) == .regular)
        #expect(Folder.kind(of: settlement.job.original) == .regular)
        let failed = harness.settle(harness.settlement(of: settlement.job, nil, .failed(failure)))
        guard case .settled = failed.result else {
            Issue.record("the failed job was not settled")
            return
        }
        #expect(try scratch.tree("failed") == ["drop", "drop.error.json"])
        #expect(try scratch.tree("processed") == [])
    }

    @Test("What was fetched meanwhile, or replaced by somebody, is not ours to take back")
    func othersFiles() throws {
        let harness = try SpoolHarness()
        let scratch = harness.scratch
        let job = try harness.job(["drop": "content", "kept": "x"])
        let fetched = Intent(
            role: .output, source: job.folder.appending("fetched"), target: scratch.path("processed/fetched"),
            identity: FileIdentity(device: 1, inode: 1))
        let theirs = Intent(
            role: .output, source: job.folder.appending("theirs"), target: scratch.path("processed/theirs"),
            identity: FileIdentity(device: 1, inode: 1))
        try scratch.write("theirs", to: "processed/theirs")
        var effects = SettlementEffects()
        try harness.spool.takeBack([fetched, theirs], &effects)
        #expect(try scratch.tree("processed") == ["theirs"])
    }

    @Test("What replaced an older file stays: there would be none")
    func replaced() throws {
        let harness = try SpoolHarness { pipeline, _ in pipeline.onConflict = .replace }
        try harness.scratch.write("older", to: "outbox/drop")
        let (_, result) = harness.settle(try half(harness, copyTo: "outbox"))
        guard case .failed = result else {
            Issue.record("settled in a folder that cannot be")
            return
        }
        #expect(try harness.scratch.text("outbox/drop") == "copy")
    }

    @Test("`processed: delete` deletes what was published, and what a stage said is not wanted; nothing else")
    func deletes() throws {
        let harness = try SpoolHarness { pipeline, _ in
            pipeline.processed = .delete
            pipeline.stages = [.passing]
        }
        let unpublished = harness.settle(harness.settlement(of: try harness.job()))
        guard case .failed(let failure) = unpublished.result else {
            Issue.record("destroyed")
            return
        }
        #expect(failure.code == "settle.unpublished" && failure.class == .file)
        #expect(Folder.kind(of: unpublished.settlement.job.original) == .regular)
        let job = try harness.job()
        var done = Payload(dropOf: job)
        done.isDone = true
        guard case .settled = harness.settle(harness.settlement(of: job, done)).result else {
            Issue.record("a drop that is not wanted was not deleted")
            return
        }
        #expect(Folder.kind(of: job.folder) == nil)
    }

    @Test("A program may have put another file in the drop's place, or changed its name: it is kept")
    func strays() throws {
        let harness = try SpoolHarness()
        let moved = try harness.job(["drop.gz": "packed", "tree/file": "x", ".1-run/out/made": "x"])
        guard case .failed(let failure) = harness.settle(harness.settlement(of: moved)).result else {
            Issue.record("settled without its drop")
            return
        }
        #expect(failure.code == "settle.missing")
        guard case .settled = harness.settle(harness.settlement(of: moved, nil, .failed(failure))).result else {
            Issue.record("the failed job was not settled")
            return
        }
        #expect(Folder.kind(of: moved.folder) == nil)
        #expect(try harness.scratch.tree("failed") == ["drop.error.json", "drop.gz", "tree/", "tree/file"])
        let replaced = try harness.job(["drop": "new", "drop.gz": "old"])
        guard case .settled = harness.settle(harness.settlement(of: replaced)).result else {
            Issue.record("not settled")
            return
        }
        #expect(try harness.scratch.text("processed/drop") == "new")
        #expect(try harness.scratch.text("failed/drop.2.gz") == "old")
        #expect(try harness.scratch.text("failed/drop.gz") == "packed")
    }

    @Test("Where it cannot be kept in `failed`, the job's folder stays")
    func straysThatCannotBeMoved() throws {
        let harness = try SpoolHarness()
        let job = try harness.job(["drop": "new", "drop.bak": "old"])
        try Folder.remove(harness.scratch.path("failed"))
        guard case .settled = harness.settle(harness.settlement(of: job)).result else {
            Issue.record("not settled")
            return
        }
        #expect(try harness.scratch.text("processed/drop") == "new")
        #expect(try ScratchFolder.read(job.folder.appending("drop.bak")) == Array("old".utf8))
    }

    @Test("What was made after the last copy is not published by it")
    func madeAfterCopy() throws {
        let harness = try SpoolHarness()
        var settlement = try half(harness, copyTo: "outbox")
        settlement.record.payload?.destination = nil
        let result = harness.settle(settlement).result
        guard case .failed(let failure) = result else {
            Issue.record("what was made is lost")
            return
        }
        #expect(failure.code == "settle.unpublished")
        settlement.record.payload?.copies[0].source = settlement.job.folder.pushing(".2-fake/made")
        guard case .settled = harness.settle(settlement).result else {
            Issue.record("a copy of it was published")
            return
        }
    }
}

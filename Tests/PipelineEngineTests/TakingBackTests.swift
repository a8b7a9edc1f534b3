import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
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
                sidecars: [Sidecar(suffix: ".sha256", parts: [.text("digest")])],
                destination: harness.scratch.path(folder))
        ]
        payload.destination = harness.scratch.path(String(repeating: "x", count: 300))
        return harness.settlement(of: job, payload)
    }

    @Test("A folder that took the place of another one stays there when its settlement is taken up again")
    func replacesFoldersOnce() throws {
        let harness = try SpoolHarness { pipeline, _ in pipeline.onConflict = .replace }
        try harness.scratch.write("old", to: "out/a/old")
        let job = try harness.job(["drop": "content", ".1-fake/new": "new"])
        var payload = Payload(folder: job.folder.appending(".1-fake"))
        payload.destination = harness.scratch.path("out/a")
        var batch = SettlementBatch(
            [harness.settlement(of: job, payload)], spool: harness.spool, journal: harness.writer,
            names: NameChooser())
        batch.prepare()
        batch.syncOutputs()
        batch.commitIntents([0])
        batch.move()
        #expect(try harness.scratch.tree("out") == ["a/", "a/new"])
        guard case .settled = harness.settle(batch.steps[0].settlement).result else {
            Issue.record("not settled")
            return
        }
        #expect(try harness.scratch.tree("out") == ["a/", "a/new"])
        #expect(try harness.scratch.tree(".dropmill/test/active") == [])
    }

    @Test("A drop that was seen and left its folder before its move fails, and nothing is published for it")
    func goneBeforeItsMove() throws {
        let harness = try SpoolHarness()
        let job = try harness.job()
        var payload = Payload(dropOf: job)
        payload.sidecars = [Sidecar(suffix: ".sha256", parts: [.text("digest")])]
        var settlement = harness.settlement(of: job, payload)
        settlement.known = try FileIdentity.examine(job.original)
        var batch = SettlementBatch([settlement], spool: harness.spool, journal: harness.writer, names: NameChooser())
        batch.prepare()
        try Folder.remove(job.original)
        guard case .failed(let failure) = batch.finish()[0].result else {
            Issue.record("it counts as settled")
            return
        }
        #expect(failure.class == .file && failure.code == "settle.missing", "\(failure)")
        #expect(try harness.scratch.tree("processed") == [])
    }

    @Test(
        "Where one output cannot be published the others are taken back, here or on another file system",
        arguments: ["outbox", "other/outbox"])
    func takesBack(to outbox: String) throws {
        let harness = try SpoolHarness { pipeline, _ in pipeline.durability = .full }
        let scratch = harness.scratch
        let isElsewhere = outbox.hasPrefix("other")
        guard !isElsewhere || TemporaryMount.isPossible else { return }
        let mount = try isElsewhere ? TemporaryMount(tmpfs: "size=16m,mode=755", at: scratch.path("other")) : nil
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

    @Test(
        "So are copies on another file system, where it is the original that finds no room",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func takesBackCopies() throws {
        let scratch = try ScratchFolder()
        let mounts = [
            try TemporaryMount(tmpfs: "size=16m,mode=755", at: scratch.path("large")),
            try TemporaryMount(tmpfs: "size=64k,mode=755", at: scratch.path("small")),
        ]
        defer { withExtendedLifetime(mounts) {} }
        let harness = try SpoolHarness { pipeline, _ in
            pipeline.durability = .full
            pipeline.processed = .folder(scratch.path("small"))
        }
        let job = try harness.job(["drop": String(repeating: "x", count: 200_000), ".1-fake/tree/made": "made"])
        var payload = Payload(folder: job.folder.pushing(".1-fake/tree"))
        payload.destination = scratch.path("large").appending("drop")
        let (settlement, result) = harness.settle(harness.settlement(of: job, payload))
        guard case .failed(let failure) = result else {
            Issue.record("there is no room for the original")
            return
        }
        #expect(failure.class == .file)
        #expect(try scratch.tree("large") == [])
        guard case .settled = harness.settle(harness.settlement(of: settlement.job, nil, .failed(failure))).result
        else {
            Issue.record("the failed job was not settled")
            return
        }
        #expect(try harness.scratch.tree("failed") == ["drop", "drop.error.json"])
    }

    @Test(
        "What was copied and cannot be removed waits, published, and holds up no other job",
        .enabled(if: TemporaryMount.isPossible && Tool.find("chattr") != nil, "needs root and chattr"))
    func staysWithItsCopy() throws {
        let harness = try SpoolHarness()
        let scratch = harness.scratch
        let mount = try TemporaryMount(tmpfs: "size=1m,mode=755", at: scratch.path("other"))
        defer { withExtendedLifetime(mount) {} }
        let (fixed, free) = (try harness.job(["drop": "fixed"]), try harness.job(["drop": "free"]))
        let chattr = try #require(Tool.find("chattr"))
        let settlements = [fixed, free].map { job in
            var payload = Payload(dropOf: job)
            payload.destination = mount.path
            return harness.settlement(of: job, payload)
        }
        let drop = fixed.original.string
        try #require(try chattr.run(["+i", drop]).status == 0)
        defer { _ = try? chattr.run(["-i", drop]) }
        var batch = SettlementBatch(settlements, spool: harness.spool, journal: harness.writer, names: NameChooser())
        let outcomes = batch.settle()
        guard case .failed(let failure) = outcomes[0].result, case .settled = outcomes[1].result else {
            Issue.record("\(outcomes.map(\.result))")
            return
        }
        #expect(failure.class == .environment)
        try #require(try chattr.run(["-i", drop]).status == 0)
        guard case .settled = harness.settle(outcomes[0].settlement).result else {
            Issue.record("not settled afterwards")
            return
        }
        #expect(try scratch.tree("other") == ["drop", "drop.2"])
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
        var mover = Mover(with: harness.spool)
        try mover.takeBack([fetched, theirs], of: job)
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

    @Test("A program may have put another file in the drop's place, or changed its name: it is kept, and that is said")
    func strays() throws {
        let harness = try SpoolHarness { pipeline, _ in pipeline.durability = .full }
        let astray = harness.spool.work.astray
        let moved = try harness.job(["drop.gz": "packed", "tree/file": "x", ".1-run/out/made": "x"])
        guard case .failed(let failure) = harness.settle(harness.settlement(of: moved)).result else {
            Issue.record("settled without its drop")
            return
        }
        #expect(failure.code == "settle.missing")
        let (outcome, warnings) = harness.settleAndTell(harness.settlement(of: moved, nil, .failed(failure)))
        guard case .settled = outcome.result else {
            Issue.record("the failed job was not settled")
            return
        }
        #expect(Folder.kind(of: moved.folder) == nil)
        #expect(try harness.scratch.tree("failed") == ["drop.error.json"])
        let kept = astray.appending(moved.id.text)
        #expect(try Set(Folder.names(in: kept).map(\.text)) == ["drop.gz", "tree"])
        #expect(try ScratchFolder.read(kept.appending("drop.gz")) == Array("packed".utf8))
        #expect(warnings.count == 1 && warnings[0].contains("'\(kept.text)'"))
    }

    @Test("Whatever its kind, what lies beside the drop keeps no job from its end")
    func straysOfAllKinds() throws {
        let harness = try SpoolHarness { pipeline, _ in
            pipeline.durability = .full
            pipeline.processed = .delete
            pipeline.stages = [.passing]
        }
        let job = try harness.job(["drop": "x", "closed/file": "x"])
        let link = job.folder.appending("link"), fifo = job.folder.appending("fifo")
        #expect(link.withPlatformString { symlink("/nowhere", $0) } == 0)
        #expect(fifo.withPlatformString { mkfifo($0, 0o600) } == 0)
        let closed = job.folder.appending("closed")
        #expect(closed.withPlatformString { chmod($0, 0) } == 0)
        let kept = harness.spool.work.astray.appending(job.id.text)
        defer { _ = kept.appending("closed").withPlatformString { chmod($0, 0o700) } }
        #expect(job.folder.withPlatformString { chmod($0, 0) } == 0)
        var done = Payload(dropOf: job)
        done.isDone = true
        guard case .settled = harness.settle(harness.settlement(of: job, done)).result else {
            Issue.record("not settled")
            return
        }
        #expect(Folder.kind(of: job.folder) == nil)
        #expect(try Set(Folder.names(in: kept).map(\.text)) == ["closed", "fifo", "link"])
    }

    @Test("Killed once it was decided to keep an original: it is kept, and the journal says where")
    func keptBefore() throws {
        let harness = try SpoolHarness { pipeline, _ in pipeline.processed = .delete }
        let job = try harness.job(["drop": "content", ".beside-1-1": "{}"])
        var settlement = harness.settlement(of: job, nil, .failed(.file("test.bad", "Bad.")))
        let report = job.folder.appending(".beside-1-1")
        settlement.record.intents = [
            Intent(
                role: .sidecar, source: report, target: harness.scratch.path("failed/drop.error.json"),
                identity: try #require(FileIdentity.of(report)))
        ]
        let (settled, result) = harness.settle(settlement)
        guard case .settled = result else { throw NotAName() }
        let kept = harness.spool.work.keptPath(of: job.drop.name, of: job.id)
        #expect(settled.record.original == kept)
        #expect(try ScratchFolder.read(kept) == Array("content".utf8))
        #expect(try harness.scratch.tree("failed") == ["drop.error.json"])
        #expect(Folder.kind(of: job.folder) == nil)
    }

    @Test(
        "What was decided is carried out, whatever the pipeline has become since",
        arguments: [Pipeline.Processed.delete, .folder("/nowhere")])
    func decidedBefore(_ processed: Pipeline.Processed) throws {
        let harness = try SpoolHarness { pipeline, scratch in
            // The folder of today cannot be made of the drop's name; nor is there anything that was published.
            pipeline.processed = processed
            if case .folder = processed {
                pipeline.processed = .folder(scratch.path("processed"))
                pipeline.processedTemplate = PathTemplate(
                    try Template("{ext}/{name}", use: .path), below: scratch.path("processed"))
            }
        }
        let job = try harness.job(["drop": "content", "made": "m"])
        var made = Payload(file: try "made".fileName, in: job.folder)
        made.destination = nil
        var settlement = harness.settlement(of: job, made)
        settlement.record.intents = try [("made", "output", Intent.Role.output), ("drop", "processed", .original)].map {
            let source = job.folder.appending(try $0.0.fileName)
            return Intent(
                role: $0.2, source: source, target: harness.scratch.path("\($0.1)/\($0.0)"),
                identity: try #require(FileIdentity.of(source)))
        }
        try harness.scratch.makeFolder("output")
        guard case .settled = harness.settle(settlement).result else {
            Issue.record("not settled")
            return
        }
        #expect(try harness.scratch.text("output/made") == "m")
        #expect(try harness.scratch.text("processed/drop") == "content")
    }

    @Test("A sidecar that was published and fetched before a kill is not published again; its file follows it")
    func fetchedSidecar() throws {
        let harness = try SpoolHarness()
        let job = try harness.job()
        var payload = Payload(dropOf: job)
        payload.sidecars = [Sidecar(suffix: ".sha256", parts: [.text("digest")])]
        var settlement = harness.settlement(of: job, payload)
        let beside = job.folder.appending(try ".beside-1-1".fileName)
        settlement.record.intents = try [
            (Intent.Role.sidecar, beside, "drop.sha256"), (.original, job.original, "drop"),
        ]
        .map {
            Intent(
                role: $0.0, source: $0.1, target: harness.scratch.path("processed/\($0.2)"),
                identity: try #require(FileIdentity.of(job.original)))
        }
        guard case .settled = harness.settle(settlement).result else {
            Issue.record("not settled")
            return
        }
        #expect(try harness.scratch.tree("processed") == ["drop"])
        #expect(try harness.scratch.text("processed/drop") == "content")
    }

    @Test("A dropped folder that was copied elsewhere, and of which a kill left a part, is no stranger")
    func remainsOfCopies() throws {
        let harness = try SpoolHarness()
        let job = try harness.job(isFolder: true, ["drop/a": "a", "drop/b": "b"])
        let gone = job.folder.appending(".dropmill-gone")
        try NoReplace.rename(job.original, to: gone)
        _ = try harness.spool.work.empty(job.folder, of: job.id, drop: job.drop.name)
        #expect(try Folder.names(in: job.folder).isEmpty && Folder.kind(of: harness.spool.work.astray) == nil)
        let copied = try harness.job(isFolder: true, ["drop/a": "a"])
        try Mover(with: harness.spool).removeCopied(copied.original)
        #expect(try Folder.names(in: copied.folder).isEmpty)
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
        let folder = settlement.job.folder
        settlement.record.payload?.copies[0].source = folder.pushing(".2-fake/made")
        guard case .settled = harness.settle(settlement).result else {
            Issue.record("a copy of it was published")
            return
        }
    }
}

import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// Lines that a settlement adds to the lists of the folders that it publishes to.
@Suite("Listing") struct ListingTests {
    private static let list = "SUMS"

    private func harness(
        _ onConflict: Pipeline.ConflictPolicy = .rename, list: String = list,
        _ adjust: (inout Pipeline, ScratchFolder) throws -> Void = { _, _ in }
    ) throws -> SpoolHarness {
        try SpoolHarness { (pipeline, scratch) in
            pipeline.onConflict = onConflict
            pipeline.lists = ListNames([try list.fileName])
            let target = PathTemplate(try Template("{name}", use: .path), below: scratch.path)
            pipeline.stages = [
                StageEntry(kind: "listing", stage: ListingStage(list: try list.fileName), targets: ["to": target])
            ]
            try adjust(&pipeline, scratch)
        }
    }

    /// A job whose drop is published in `output`, with its line.
    private func listed(
        _ harness: SpoolHarness, _ content: String = "content", to folder: String? = "output",
        outcome: JobState.Outcome = .processed
    ) throws -> Settlement {
        let job = try harness.job(["drop": content])
        var payload = Payload(dropOf: job)
        payload.lines = [try ListingStage.line(of: content, in: Self.list)]
        payload.destination = folder.map { harness.scratch.path($0) }
        return harness.settlement(of: job, payload, outcome)
    }

    private func line(_ content: String, _ name: String = "drop") throws -> String {
        let line = try ListingStage.line(of: content, in: Self.list)
        return String(decoding: line.text(for: try name.fileName).bytes, as: UTF8.self)
    }

    /// A line that another one replaced.
    private func gone(_ content: String) throws -> String { "#\(try line(content).dropFirst())" }

    private func batch(_ settlements: [Settlement], _ harness: SpoolHarness) -> SettlementBatch {
        SettlementBatch(settlements, spool: harness.spool, journal: harness.writer, names: NameChooser())
    }

    private func settle(_ settlements: [Settlement], _ harness: SpoolHarness) -> [Settler.Outcome] {
        var batch = batch(settlements, harness)
        return batch.settle()
    }

    /// As a kill after the moves leaves them: what a start finds on record.
    private func killed(_ settlements: [Settlement], _ harness: SpoolHarness) throws -> [Settlement] {
        var batch = batch(settlements, harness)
        batch.prepare()
        batch.syncOutputs()
        batch.commitIntents(Array(settlements.indices))
        batch.move()
        harness.spool.outstanding.note(batch.steps.map(\.settlement.record))
        return batch.steps.map(\.settlement)
    }

    private func isSettled(_ outcomes: [Settler.Outcome]) -> Bool {
        outcomes.allSatisfy { if case .settled = $0.result { true } else { false } }
    }

    @Test("One line each, under the names that the files got, and no sidecar")
    func names() throws {
        let harness = try harness()
        let outcomes = settle(try ["one", "two", "three"].map { try listed(harness, $0) }, harness)
        #expect(isSettled(outcomes))
        #expect(try harness.scratch.tree("output") == [Self.list, "drop", "drop.2", "drop.3"])
        #expect(
            try harness.scratch.text("output/SUMS") == line("one") + line("two", "drop.2") + line("three", "drop.3"))
        #expect(outcomes.map(\.settlement.record.outputs.count) == [1, 1, 1])
        #expect(harness.spool.outstanding.isEmpty)
    }

    @Test("A drop that stays as it is goes to processed, and so does its line; a failed one has none")
    func originals() throws {
        let harness = try harness()
        let bad = try listed(harness, "bad", outcome: .failed(.file("test.bad", "Bad.")))
        #expect(isSettled(settle([try listed(harness, "good", to: nil), bad], harness)))
        #expect(try harness.scratch.tree("processed") == [Self.list, "drop"])
        #expect(try harness.scratch.text("processed/SUMS") == line("good"))
        #expect(try harness.scratch.tree("failed") == ["drop", "drop.error.json"])
    }

    @Test("A copy has its line where it goes")
    func copies() throws {
        let harness = try harness()
        var settlement = try listed(harness, "text")
        let copy = settlement.job.folder.pushing(".1-copy/1/drop")
        try harness.scratch.write(Array("text".utf8), to: copy)
        var payload = try #require(settlement.record.payload)
        payload.copies = [
            PayloadCopy(
                path: copy, of: payload.path, isFolder: false, sidecars: [], lines: payload.lines,
                destination: harness.scratch.path("copies"))
        ]
        settlement.record.payload = payload
        #expect(isSettled(settle([settlement], harness)))
        for folder in ["output", "copies"] { #expect(try harness.scratch.text("\(folder)/SUMS") == line("text")) }
    }

    @Test("After a kill at the write, whatever it left is completed: once, whole", arguments: [1, 10, 30, 60])
    func torn(_ count: Int) throws {
        let harness = try harness()
        let left = try killed(try ["one", "two"].map { try listed(harness, $0) }, harness)
        let text = try line("one") + line("two", "drop.2")
        try harness.scratch.write("# theirs\n\(text.prefix(count))", to: "output/SUMS")
        #expect(isSettled(settle(left, harness)))
        #expect(try harness.scratch.text("output/SUMS") == "# theirs\n\(text)")
    }

    @Test("The beginning of a job's line is completed by whoever comes first, and not once more by its own job")
    func tornOfAnotherBatch() throws {
        let harness = try harness()
        let left = try killed([try listed(harness, "one")], harness)
        try harness.scratch.write("\(try line("one").prefix(12))", to: "output/SUMS")
        #expect(isSettled(settle([try listed(harness, "two")], harness)))
        let text = try line("one") + line("two", "drop.2")
        #expect(try harness.scratch.text("output/SUMS") == text)
        #expect(isSettled(settle(left, harness)))
        #expect(try harness.scratch.text("output/SUMS") == text)
    }

    @Test("After a cut: NULs at the end, behind the beginning of a line, and a list that is gone")
    func damaged() throws {
        let harness = try harness()
        let (one, two) = (try line("one"), try line("two", "drop.2"))
        for (found, expected) in [
            (Array("# theirs\n".utf8) + [UInt8](repeating: 0, count: 4), "# theirs\n#   \n\(one)\(two)"),
            (Array(one.utf8.prefix(4)) + [0, 0], "#\(one.prefix(4).dropFirst())  \n\(one)\(two)"),
            (nil, one + two),
        ] {
            let left = try killed(try ["one", "two"].map { try listed(harness, $0) }, harness)
            if let found { try harness.scratch.write(found, to: harness.scratch.path("output/SUMS")) }
            #expect(isSettled(settle(left, harness)))
            #expect(try harness.scratch.text("output/SUMS") == expected)
            try Folder.remove(harness.scratch.path("output"))
        }
    }

    @Test("Where the list of a configured folder cannot be written the job waits, published, and goes on there")
    func trouble() throws {
        let harness = try harness()
        try harness.scratch.makeFolder("processed/SUMS")
        let outcome = settle([try listed(harness, "one", to: nil)], harness)[0]
        guard case .failed(let failure) = outcome.result else {
            Issue.record("settled without its line")
            return
        }
        #expect(failure.class == .environment && failure.code == "list.strange")
        #expect(try harness.scratch.tree("processed") == ["SUMS/", "drop"])
        #expect(outcome.settlement.record.intents.count == 1)
        #expect(harness.spool.outstanding.isEmpty, "nothing was written")
        try Folder.remove(harness.scratch.path("processed/SUMS"))
        #expect(isSettled(settle([outcome.settlement], harness)))
        #expect(try harness.scratch.text("processed/SUMS") == line("one"))
        #expect(harness.spool.outstanding.isEmpty)
    }

    @Test(
        "In a folder that a drop's name led to it fails instead, before anything is published, and nobody waits",
        arguments: ["folder", "link", "two names"])
    func troubleOfASender(_ kind: String) throws {
        let harness = try harness()
        let other = try harness.scratch.write("other", to: "elsewhere/other")
        let list = harness.scratch.path("output/SUMS")
        try harness.scratch.makeFolder("output")
        switch kind {
        case "folder": try harness.scratch.makeFolder("output/SUMS")
        case "link": try harness.scratch.link("output/SUMS", to: "elsewhere/other")
        default: #expect(other.withPlatformString { from in list.withPlatformString { link(from, $0) } } == 0)
        }
        let good = try listed(harness, "good", to: "other")
        let outcomes = settle([try listed(harness, "one"), good], harness)
        guard case .failed(let failure) = outcomes[0].result else {
            Issue.record("settled without its line")
            return
        }
        #expect(failure.class == .file && failure.code == "list.strange")
        #expect(failure.summary.contains("output/SUMS"))
        #expect(try Folder.names(in: harness.scratch.path("output")).map(\.text) == ["SUMS"])
        #expect(isSettled([outcomes[1]]))
        #expect(try harness.scratch.text("elsewhere/other") == "other")
    }

    @Test("Where somebody exchanges the list meanwhile the file is over without its line, and it is said")
    func exchanged() throws {
        let harness = try harness()
        let settlement = try killed([try listed(harness, "one")], harness)
        try harness.scratch.makeFolder("output/SUMS")
        var batch = batch(settlement, harness)
        #expect(isSettled(batch.settle()))
        #expect(batch.warnings.count == 1 && batch.warnings.joined().contains("output/SUMS"))
    }

    @Test(
        "A folder that has something strange in place of a list is not published",
        arguments: ["file", "folder", "two names"])
    func tree(_ kind: String) throws {
        let harness = try harness()
        let isFile = kind == "file"
        let job = try harness.job([
            kind == "folder" ? ".1-unpack/tree/SUMS/x" : ".1-unpack/tree/SUMS": "theirs\n", "drop": "a",
        ])
        if kind == "two names" {
            let (from, to) = (job.folder.pushing(".1-unpack/tree/SUMS"), job.folder.pushing(".1-unpack/tree/other"))
            #expect(from.withPlatformString { from in to.withPlatformString { link(from, $0) } } == 0)
        }
        var payload = Payload(folder: job.folder.pushing(".1-unpack/tree"))
        payload.destination = harness.scratch.path("output")
        let outcome = settle([harness.settlement(of: job, payload)], harness)[0]
        guard !isFile else {
            #expect(isSettled([outcome]))
            #expect(isSettled(settle([try listed(harness, "one")], harness)))
            #expect(try harness.scratch.text("output/SUMS") == "theirs\n\(try line("one"))")
            return
        }
        guard case .failed(let failure) = outcome.result else {
            Issue.record("published")
            return
        }
        #expect(failure.class == .file && failure.code == "conflict.list")
        #expect(Folder.kind(of: harness.scratch.path("output")) == nil)
    }

    @Test("After a failed sync lines are written again: what is in memory need not be on the disk")
    func doubt() throws {
        let harness = try harness()
        var settlement = try killed([try listed(harness, "one")], harness)[0]
        try harness.scratch.write(try line("one"), to: "output/SUMS")
        let list = harness.scratch.path("output/SUMS")
        let before = FileIdentity.of(list)
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(list.withPlatformString { utimensat(AT_FDCWD, $0, &times, 0) } == 0)
        var batch = batch([settlement], harness)
        batch.steps[0].settlement.record.doubtLists(because: "no disk", at: .now())
        settlement = batch.steps[0].settlement
        #expect(isSettled(settle([settlement], harness)))
        #expect(try harness.scratch.text("output/SUMS") == line("one"))
        #expect(FileIdentity.of(list) == before)
        #expect(FileStatus.of(list)?.st_mtim.tv_sec != 1)
    }

    @Test(
        "A file system that died after the lines is told of, and they are doubted from then on",
        .enabled(if: DiskImage.isXFSPossible, "needs mkfs.xfs"))
    func deadDisk() throws {
        var mounted: DiskImage?
        let harness = try harness {
            mounted = try DiskImage(xfs: $1.path("disk"))
            $0.durability = .full
            $0.inbox = $1.path("disk/inbox")
            try Folder.make($0.inbox)
        }
        let disk = try #require(mounted)
        var batch = batch([try listed(harness, "one", to: "disk/output")], harness)
        batch.prepare()
        batch.execute()
        #expect(batch.steps.compactMap(\.failure).isEmpty)
        try disk.shutDown()
        let isSynced = batch.syncFolders()
        #expect(!isSynced)
        let step = batch.steps[0]
        #expect(step.failure?.class == .environment)
        #expect(step.settlement.record.hasDoubtfulLists)
        batch.forgetLines()
        #expect(!harness.spool.outstanding.isEmpty, "they may not be on the disk")
    }

    // MARK: Names

    @Test("What has a list's name steps aside, also before there is a list")
    func takenByTheList() throws {
        let harness = try harness()
        let (job, payload) = try named(harness)
        #expect(isSettled(settle([harness.settlement(of: job, payload)], harness)))
        #expect(try harness.scratch.tree("output") == ["SUMS", "SUMS.2"])
        #expect(try harness.scratch.text("output/SUMS") == line("content", "SUMS.2"))
    }

    @Test("Where names are not changed it fails instead, and replaces nothing", arguments: ["replace", "fail"])
    func namedLikeTheList(_ onConflict: String) throws {
        let harness = try harness(try #require(Pipeline.ConflictPolicy(rawValue: onConflict)))
        let text = try line("one")
        try harness.scratch.write(text, to: "output/SUMS")
        let (job, payload) = try named(harness)
        guard case .failed(let failure) = settle([harness.settlement(of: job, payload)], harness)[0].result else {
            Issue.record("published")
            return
        }
        #expect(failure.code == "conflict.list" && failure.class == .file)
        #expect(failure.summary.contains("output/SUMS"))
        #expect(try harness.scratch.text("output/SUMS") == text)
    }

    @Test(
        "Nor is a list replaced by a sidecar that has its name", arguments: [Pipeline.ConflictPolicy.rename, .replace])
    func sidecarNamedLikeTheList(_ onConflict: Pipeline.ConflictPolicy) throws {
        let harness = try harness(onConflict, list: "drop.sums")
        try harness.scratch.write("theirs\n", to: "output/drop.sums")
        let job = try harness.job()
        var payload = Payload(dropOf: job)
        payload.sidecars = [Sidecar(suffix: ".sums", parts: [.text("a sidecar")])]
        payload.destination = harness.scratch.path("output")
        let outcome = settle([harness.settlement(of: job, payload)], harness)[0]
        #expect(try harness.scratch.text("output/drop.sums") == "theirs\n")
        if onConflict == .rename {
            #expect(try harness.scratch.tree("output") == ["drop.2", "drop.2.sums", "drop.sums"])
        } else if case .failed(let failure) = outcome.result {
            #expect(failure.code == "conflict.taken")
        } else {
            Issue.record("published")
        }
    }

    @Test("A folder below steps aside too")
    func folders() throws {
        let harness = try harness()
        #expect(isSettled(settle([try listed(harness, "one", to: "SUMS/deep")], harness)))
        #expect(try harness.scratch.text("SUMS.2/deep/SUMS") == line("one"))
    }

    private func named(_ harness: SpoolHarness) throws -> (Job, Payload) {
        let job = try harness.job(["drop": "content", ".1-fake/SUMS": "content"])
        var payload = Payload(file: try "SUMS".fileName, in: job.folder.appending(".1-fake"))
        payload.lines = [try ListingStage.line(of: "content", in: Self.list)]
        payload.destination = harness.scratch.path("output")
        return (job, payload)
    }

    // MARK: Replacing

    @Test("With `replace` the line of what gave way becomes a comment, in one batch and in two")
    func replacing() throws {
        let harness = try harness(.replace)
        try harness.scratch.write("# theirs\n", to: "output/SUMS")
        #expect(isSettled(settle([try listed(harness, "one")], harness)))
        #expect(try harness.scratch.text("output/SUMS") == "# theirs\n\(try line("one"))")
        #expect(isSettled(settle(try ["two", "three"].map { try listed(harness, $0) }, harness)))
        #expect(try harness.scratch.text("output/drop") == "three")
        #expect(try harness.scratch.text("output/SUMS") == "# theirs\n\(try gone("one"))\(try line("three"))")
    }

    @Test("Nor does a start bring back the line of what gave way")
    func replacedBeforeAKill() throws {
        let harness = try harness(.replace)
        let left = try killed([try listed(harness, "one")], harness)
        #expect(isSettled(settle([try listed(harness, "two")], harness)))
        #expect(try harness.scratch.text("output/SUMS") == line("two"))
        #expect(isSettled(settle(left, harness)))
        #expect(try harness.scratch.text("output/SUMS") == line("two"))
        // What was fetched has its line.
        let fetched = try killed([try listed(harness, "three")], harness)
        try Folder.remove(harness.scratch.path("output/drop"))
        #expect(isSettled(settle(fetched, harness)))
        #expect(try harness.scratch.text("output/SUMS") == gone("two") + line("three"))
    }
}

/// Says that there is a list, and adds nothing: the tests' payloads have their lines.
private struct ListingStage: Stage {
    static let descriptor = StageDescriptor(kind: "listing", summary: "Has a list", example: "listing")
    let lists: [FileName]

    init(list: FileName) { lists = [list] }

    init(options: StageOptions) throws(OptionProblem) { lists = [] }

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload { payload }

    /// A line for some content, with a number in place of a digest.
    static func line(of content: String, in list: String) throws -> ListLine {
        let sum = content.utf8.reduce(0x1357_9BDF) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
        return ListLine(
            list: try list.fileName, start: [.escapeMark], digest: String(sum | 0x1_0000_0000, radix: 16),
            end: [.text("  "), .name(.checksumList), .text("\n")])
    }
}

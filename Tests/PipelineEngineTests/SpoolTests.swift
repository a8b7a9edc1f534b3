import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Journal
@testable import PipelineEngine
@testable import Readiness
@testable import SQLiteJournal

@Suite("Spool") struct SpoolTests {
    private let scratch: ScratchFolder
    private let ids = JobIDGenerator()
    private let journal: any Journal
    private let writer: JournalWriter

    init() throws {
        scratch = try ScratchFolder()
        for folder in ["inbox", "processed", "failed", "state"] { try scratch.makeFolder(folder) }
        journal = try SQLiteJournal.open(writing: scratch.path("state"), durable: false)
        writer = JournalWriter(journal: journal)
    }

    private func spool(_ adjust: (inout Pipeline) -> Void = { _ in }) throws -> Spool {
        var pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")),
            failed: scratch.path("failed"), stages: [try .publishing(below: scratch.path)])
        adjust(&pipeline)
        return Spool(pipeline: pipeline, work: try WorkFolder(for: pipeline))
    }

    /// Claims a drop that a test has put into the inbox.
    private func claim(_ name: FileName, _ spool: Spool) throws -> Job {
        let inbox = try OpenFile.openFolder(spool.pipeline.inbox)
        guard case .file(let fingerprint, _) = try Sample.examine(name, in: inbox),
            case .taken(let claimed) = try spool.claimAndProve(name, ready: fingerprint, in: inbox, as: ids.next())
        else { throw NotAName() }
        return claimed.job
    }

    private func dropped(_ name: String, _ contents: String, _ spool: Spool) throws -> Job {
        try scratch.write(contents, to: "inbox/\(name)")
        return try claim(name.fileName, spool)
    }

    private func succeeded(_ job: Job, _ payload: Payload? = nil) -> Settlement {
        settlement(job, payload, .processed)
    }

    private func failed(_ job: Job) -> Settlement { settlement(job, nil, .failed(.file("test.bad", "Bad."))) }

    private func settlement(_ job: Job, _ payload: Payload?, _ outcome: JobState.Outcome) -> Settlement {
        var record = JobRecord(claimed: job, identity: FileIdentity.of(job.original) ?? .unknown, definition: "")
        record.payload = payload
        var report: FailureReport?
        if case .failed(let failure) = outcome {
            report = FailureReport(failure, of: job, stage: "fake", attempts: 1, at: .now())
        }
        return Settlement(job: job, record: record, outcome: outcome, report: report)
    }

    /// Settles a batch; returns the failures, in its order.
    @discardableResult
    private func settle(_ spool: Spool, _ settlements: Settlement...) -> [Failure?] {
        var batch = SettlementBatch(settlements, spool: spool, journal: writer, names: NameChooser())
        return batch.settle().map { outcome in
            if case .failed(let failure) = outcome.result { failure } else { nil }
        }
    }

    // MARK: Claims

    @Test("Exactly one of two claims wins; the other finds it gone")
    func oneWinner() throws {
        let spool = try spool()
        try scratch.write("x", to: "inbox/a")
        let inbox = try OpenFile.openFolder(spool.pipeline.inbox)
        let name = try "a".fileName
        guard case .file(let fingerprint, _) = try Sample.examine(name, in: inbox) else {
            Issue.record("no file")
            return
        }
        guard case .taken = try spool.claimAndProve(name, ready: fingerprint, in: inbox, as: ids.next()),
            case .vanished = try spool.claimAndProve(name, ready: fingerprint, in: inbox, as: ids.next())
        else {
            Issue.record("not one winner")
            return
        }
        #expect(try Folder.names(in: spool.work.active).count == 1, "the loser leaves no folder behind")
    }

    @Test("A drop that changed since it was found ready drains")
    func changedAtTheLastMoment() throws {
        let spool = try spool()
        try scratch.write("x", to: "inbox/a")
        let inbox = try OpenFile.openFolder(spool.pipeline.inbox)
        let name = try "a".fileName
        guard case .file(let fingerprint, _) = try Sample.examine(name, in: inbox) else { return }
        try scratch.append(Array("y".utf8), to: scratch.path("inbox/a"))
        guard case .stillWritten = try spool.claimAndProve(name, ready: fingerprint, in: inbox, as: ids.next()) else {
            Issue.record("taken although it changed")
            return
        }
    }

    @Test("A drop that a process has open for writing drains, unless nobody asks", arguments: [true, false])
    func openWriter(asks: Bool) throws {
        let spool = try spool { $0.ready.writers = asks ? .wait : .ignore }
        let path = try scratch.write("x", to: "inbox/a")
        let writer = try OpenFile.open(path, O_WRONLY)
        let inbox = try OpenFile.openFolder(spool.pipeline.inbox)
        let name = try "a".fileName
        let found = try Sample.examine(name, in: inbox, asking: spool.sight)
        guard case .file(let fingerprint, let writers) = found else { return }
        try #require(writers.areKnown, "no leases here")
        let claim = try spool.claimAndProve(name, ready: fingerprint, in: inbox, as: ids.next())
        switch (claim, asks) {
        case (.stillWritten, true), (.taken, false): break
        default: Issue.record("\(claim)")
        }
        try writer.close()
    }

    // MARK: Settling

    @Test("Names that are taken: the newcomer steps aside, and its sidecar with it")
    func renames() throws {
        let spool = try spool()
        for number in 1...12 {
            let job = try dropped("report.tar.gz", "\(number)", spool)
            var payload = Payload(dropOf: job)
            payload.sidecars = [
                Sidecar(suffix: ".sha256", parts: [.text("d\(number)  "), .name(.verbatim), .text("\n")])
            ]
            settle(spool, succeeded(job, payload))
        }
        #expect(try scratch.tree("processed").count == 24)
        #expect(try scratch.text("processed/report.12.tar.gz") == "12")
        #expect(try scratch.text("processed/report.12.tar.gz.sha256") == "d12  report.12.tar.gz\n")
    }

    @Test("A sidecar's name that is taken moves both")
    func sidecarTaken() throws {
        let spool = try spool()
        try scratch.write("somebody's", to: "processed/a.txt.sha256")
        let job = try dropped("a.txt", "x", spool)
        var payload = Payload(dropOf: job)
        payload.sidecars = [Sidecar(suffix: ".sha256", parts: [.text("d  "), .name(.verbatim), .text("\n")])]
        settle(spool, succeeded(job, payload))
        #expect(try scratch.tree("processed") == ["a.2.txt", "a.2.txt.sha256", "a.txt.sha256"])
        #expect(try scratch.text("processed/a.txt.sha256") == "somebody's")
    }

    @Test("`replace` puts the newcomer in the place of the old one, whole")
    func replaces() throws {
        let spool = try spool { $0.onConflict = .replace }
        for contents in ["old", "new"] { settle(spool, succeeded(try dropped("a", contents, spool))) }
        #expect(try scratch.tree("processed") == ["a"])
        #expect(try scratch.text("processed/a") == "new")
        #expect(try scratch.tree(".dropmill/test/active").allSatisfy { $0.hasSuffix("/") })
    }

    @Test("`replace` exchanges whole folders")
    func replacesFolders() throws {
        let spool = try spool { $0.onConflict = .replace }
        for contents in ["old", "new"] {
            let job = try dropped("a.zip", contents, spool)
            let made = job.scratch(stage: 0, kind: "unpack")
            try scratch.write(Array(contents.utf8), to: made.appending(try "file-\(contents)".fileName))
            var payload = Payload(folder: made)
            payload.destination = scratch.path("out/a")
            settle(spool, succeeded(job, payload))
        }
        #expect(try scratch.tree("out") == ["a/", "a/file-new"])
        #expect(try scratch.tree(".dropmill/test/active").allSatisfy { $0.hasSuffix("/") })
    }

    @Test("`fail` fails the job before anything of it is published")
    func failsOnConflict() throws {
        let spool = try spool { $0.onConflict = .fail }
        try scratch.write("old", to: "processed/a.zip")
        let job = try dropped("a.zip", "new", spool)
        let made = job.scratch(stage: 0, kind: "unpack")
        try scratch.write(Array("x".utf8), to: made.appending(try "inside".fileName))
        var payload = Payload(folder: made)
        payload.destination = scratch.path("out/a")
        let failure = settle(spool, succeeded(job, payload))[0]
        #expect(failure?.class == .file)
        #expect(failure?.code == "conflict.taken")
        #expect(!scratch.exists("out/a"))
        settle(spool, failed(job))
        #expect(try scratch.tree("failed") == ["a.zip", "a.zip.error.json"])
        // Failures find a place whatever is there.
        settle(spool, failed(try dropped("a.zip", "again", spool)))
        #expect(try scratch.tree("failed").count == 4)
    }

    @Test("A published drop leaves nothing for processed; a made file does")
    func movedDrop() throws {
        let spool = try spool()
        let job = try dropped("a.txt", "x", spool)
        var payload = Payload(dropOf: job)
        payload.destination = scratch.path("out/deep/er")
        settle(spool, succeeded(job, payload))
        #expect(try scratch.tree("out") == ["deep/", "deep/er/", "deep/er/a.txt"])
        #expect(try scratch.tree("processed") == [])

        let other = try dropped("b.csv.gz", "packed", spool)
        let made = other.scratch(stage: 0, kind: "unpack")
        try scratch.write(Array("unpacked".utf8), to: made.appending(try "b.csv".fileName))
        var file = Payload(file: try "b.csv".fileName, in: made)
        file.destination = scratch.path("out")
        settle(spool, succeeded(other, file))
        #expect(try scratch.text("out/b.csv") == "unpacked")
        #expect(try scratch.tree("processed") == ["b.csv.gz"])
    }

    @Test("What was made but never published fails the job and stays out of the way")
    func unpublished() throws {
        let spool = try spool()
        let job = try dropped("a.zip", "x", spool)
        let made = job.scratch(stage: 0, kind: "unpack")
        try scratch.write(Array("x".utf8), to: made.appending(try "inside".fileName))
        #expect(settle(spool, succeeded(job, Payload(folder: made)))[0]?.code == "settle.unpublished")
    }

    @Test("`processed: delete` deletes the original")
    func deletes() throws {
        let spool = try spool { ($0.processed, $0.stages) = (.delete, []) }
        settle(spool, succeeded(try dropped("a", "x", spool)))
        #expect(try scratch.tree("processed") == [])
        #expect(try scratch.tree(".dropmill/test/active").allSatisfy { $0.hasSuffix("/") })
    }

    @Test("One bad job of a batch does not hold up the others")
    func batch() throws {
        let spool = try spool()
        let bad = try dropped("bad", "x", spool)
        try Folder.remove(bad.original)
        let (a, b) = (try dropped("a", "1", spool), try dropped("b", "2", spool))
        let failures = settle(spool, succeeded(a), succeeded(bad), succeeded(b))
        #expect(failures.map { $0?.code } == [nil, "settle.missing", nil])
        #expect(try scratch.tree("processed") == ["a", "b"])
        // There is nothing to move to failed, but the reason is there.
        #expect(settle(spool, failed(bad)) == [nil])
        #expect(try scratch.tree("failed") == ["bad.error.json"])
    }

    @Test("A journal that fails at any commit leads to no loss and no second publication", arguments: [1, 2])
    func journalFails(at commit: Int) throws {
        let spool = try spool()
        let job = try dropped("a.txt", "x", spool)
        let memory = MemoryJournal()
        let commits = Mutex(0)
        memory.contents.withLock { contents in
            contents.whileWriting = { @Sendable in
                let count = commits.withLock { count in
                    count += 1
                    return count
                }
                guard count == commit else { return }
                memory.contents.withLock { $0.failures = [JournalError(.environment, "The disk is full.")] }
            }
        }
        let writer = JournalWriter(journal: memory)
        var batch = SettlementBatch([failed(job)], spool: spool, journal: writer, names: NameChooser())
        let outcome = batch.settle()[0]
        guard case .failed(let failure) = outcome.result else {
            Issue.record("settled although the journal failed")
            return
        }
        #expect(failure.class == .environment)
        var again = SettlementBatch([outcome.settlement], spool: spool, journal: writer, names: NameChooser())
        _ = again.settle()
        #expect(try scratch.tree("failed") == ["a.txt", "a.txt.error.json"])
        #expect(try memory.job(job.id)?.state == .failed)
        #expect(try memory.job(job.id)?.original == scratch.path("failed/a.txt"))
    }

    @Test("Odd names keep their bytes, and side files of long names stay unique")
    func oddNames() throws {
        let spool = try spool()
        let names: [[UInt8]] = [
            Array("V\u{00}".utf8.dropLast()) + [0xED] + Array("ctor.txt".utf8), Array("two\nlines".utf8),
            Array("-rf".utf8),
            [UInt8](repeating: UInt8(ascii: "n"), count: 255),
            [UInt8](repeating: UInt8(ascii: "n"), count: 254) + [UInt8(ascii: "m")],
        ]
        for bytes in names {
            let name = try #require(FileName(bytes))
            try scratch.write(bytes, to: spool.pipeline.inbox.appending(name))
            settle(spool, failed(try claim(name, spool)))
            #expect(try ScratchFolder.read(scratch.path("failed").appending(name)) == bytes)
        }
        let reports = try Folder.names(in: scratch.path("failed")).filter {
            $0.bytes.suffix(11).elementsEqual(".error.json".utf8)
        }
        #expect(reports.count == names.count)
        #expect(reports.allSatisfy { $0.bytes.count <= 255 })
    }

    // MARK: Other file systems

    @Test(
        "To another file system by copy: times and modes kept, nothing left behind",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func acrossFileSystems() throws {
        let other = try TemporaryMount(tmpfs: "size=16m,mode=755", at: scratch.path("other"))
        defer { withExtendedLifetime(other) {} }
        let spool = try spool { $0.processed = .folder(scratch.path("other/processed")) }
        try Folder.make(scratch.path("other/processed"))
        let job = try dropped("a.zip", "original", spool)
        let made = job.scratch(stage: 0, kind: "unpack")
        let inside = try scratch.write(Array("inside".utf8), to: made.pushing("sub/file"))
        #expect(inside.withPlatformString { chmod($0, 0o640) } == 0)
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000, tv_nsec: 5)]
        #expect(inside.withPlatformString { utimensat(AT_FDCWD, $0, times, 0) } == 0)
        var payload = Payload(folder: made)
        payload.destination = scratch.path("other/out/a")
        #expect(settle(spool, succeeded(job, payload)) == [nil])
        #expect(
            try scratch.tree("other") == [
                "out/", "out/a/", "out/a/sub/", "out/a/sub/file", "processed/", "processed/a.zip",
            ])
        #expect(try scratch.text("other/processed/a.zip") == "original")
        let status = try OpenFile.open(scratch.path("other/out/a/sub/file"), O_RDONLY).status()
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(status.st_mtim.tv_sec == 1_000_000)
        #expect(try scratch.tree(".dropmill/test/active").allSatisfy { $0.hasSuffix("/") })
    }

    // MARK: Folders of the inbox

    /// Claims a drop from a folder of the inbox.
    private func claim(_ name: String, in folders: [String], _ spool: Spool) throws -> Job {
        let path = InboxFolder(try folders.map { try $0.fileName })
        try scratch.write("x", to: (["inbox"] + folders + [name]).joined(separator: "/"))
        let folder = try OpenInbox(spool.pipeline.inbox).open(path)
        let name = try name.fileName
        guard case .file(let fingerprint, _) = try Sample.examine(name, in: folder.file),
            case .taken(let claimed) = try spool.claimAndProve(
                name, ready: fingerprint, in: folder.file, at: path, as: ids.next())
        else { throw NotAName() }
        return claimed.job
    }

    @Test("The path below the inbox is kept in processed and in failed, and its emptied folders stay")
    func relativePath() throws {
        let spool = try spool()
        let good = try claim("a", in: ["2026", "03"], spool)
        let bad = try claim("b", in: ["2026"], spool)
        #expect(good.drop.path.text == "2026/03/a")
        #expect(good.templateValues.folders.map(\.text) == ["2026", "03"])
        #expect(settle(spool, succeeded(good), failed(bad)) == [nil, nil])
        #expect(try scratch.tree("processed") == ["2026/", "2026/03/", "2026/03/a"])
        #expect(try scratch.tree("failed") == ["2026/", "2026/b", "2026/b.error.json"])
        #expect(try scratch.tree("inbox") == ["2026/", "2026/03/"])
    }

    @Test("A folder whose name is a file in processed steps aside, also where both come in one batch")
    func folderStepsAside() throws {
        let spool = try spool()
        let file = try dropped("a", "x", spool)
        try Folder.remove(scratch.path("inbox/a"))
        let inside = try claim("b", in: ["a"], spool)
        #expect(settle(spool, succeeded(file), succeeded(inside)) == [nil, nil])
        try Folder.remove(scratch.path("inbox/a"))
        #expect(settle(spool, succeeded(try claim("c", in: ["a"], spool))) == [nil])
        #expect(try scratch.tree("processed") == ["a", "a.2/", "a.2/b", "a.2/c"])
    }

    @Test("A job that no journal knows still knows where it came from")
    func origin() throws {
        let spool = try spool()
        let job = try claim("a", in: ["x", "y"], spool)
        let recovery = Recovery(of: spool.pipeline, in: spool.work, lastRun: nil, boot: "b")
        for _ in 0..<2 {
            let adopted = try recovery.reconcile([]).adopted
            #expect(adopted.map(\.drop.path) == [job.drop.path])
        }
    }

    @Test("A folder that was replaced by a symbolic link is not entered")
    func noLinks() throws {
        let spool = try spool()
        try scratch.write("secret", to: "elsewhere/a")
        try scratch.link("inbox/sub", to: scratch.path("elsewhere").string)
        let inbox = try OpenInbox(spool.pipeline.inbox)
        let error = #expect(throws: IOError.self) { _ = try inbox.open(InboxFolder([try "sub".fileName])) }
        #expect(error?.isUnreachable == true)
    }
}

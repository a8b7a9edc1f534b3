import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Doctor
@testable import PipelineEngine

@Suite("Examination") struct ExaminationTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func pipeline(_ adjust: (inout Pipeline) -> Void = { _ in }) throws -> Pipeline {
        var pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")), failed: scratch.path("failed"), minFree: ByteSize(bytes: 0),
            stages: [.passing])
        adjust(&pipeline)
        try Folder.make(pipeline.inbox)
        return pipeline
    }

    private func findings(_ pipeline: Pipeline, _ role: String) throws -> [Finding] {
        try #require(Examination().pipeline(pipeline).places.first { $0.role == role }).findings
    }

    private func grade(_ findings: [Finding], _ check: Finding.Check) -> Finding.Grade? {
        findings.first { $0.check == check }?.grade
    }

    @Test("Where all is well nothing is wrong, made or left behind")
    func well() throws {
        let pipeline = try pipeline()
        try Folder.make(pipeline.failed)
        let places = Examination().pipeline(pipeline).places
        #expect(places.map(\.role) == ["inbox", "work", "processed", "failed"])
        #expect(places.flatMap(\.findings).filter { $0.grade == .problem } == [])
        let inbox = try #require(places.first).findings
        for check in [Finding.Check.fileSystem, .rights, .events, .leases, .times] {
            #expect(grade(inbox, check) == .good || check == .leases && geteuid() != 0)
        }
        #expect(grade(places[1].findings, .rename) == .good)
        #expect(grade(places[2].findings, .rights) == .note, "what is not there yet is made by the daemon")
        #expect(try scratch.tree() == ["failed/", "inbox/"])
    }

    @Test("It tells which way drops of others become ours, and what it costs")
    func ownership() throws {
        func finding(_ pipeline: Pipeline) throws -> Finding {
            try #require(try findings(pipeline, "inbox").first { $0.check == .ownership })
        }
        let keeping = try finding(try pipeline { $0.ownership = .keep })
        #expect(keeping.grade == .note && keeping.fact.contains("costs nothing"))
        let taking = try finding(try pipeline())
        switch try OwnershipCheck.way(in: scratch.path) {
        case .owner: #expect(taking.grade == .good && taking.fact.contains("by a change of owner"))
        case .sharing: #expect(taking.grade == .good && taking.fact.contains("shares their blocks"))
        case .copy: #expect(taking.grade == .note && taking.remedy?.contains("CAP_CHOWN") == true)
        }
        if geteuid() == 0 { #expect(try OwnershipCheck.way(in: scratch.path) == .owner) }
        #expect(try scratch.tree() == ["inbox/"])
    }

    @Test("A watch is needed for each folder that is looked into")
    func watches() throws {
        for path in ["inbox/a/b/x", "inbox/c/x", "inbox/.hidden/x"] { try scratch.write("", to: path) }
        func watches(_ depth: Int) throws -> Int {
            Examination.watches(of: try pipeline { $0.match = MatchRule(depth: depth) })
        }
        #expect(try [1, 2, 3, .max].map(watches) == [1, 3, 4, 4])
    }

    @Test("A daemon's work folder is tried where its start does not mind")
    func besideADaemon() throws {
        let pipeline = try pipeline()
        let work = try WorkFolder(for: pipeline)
        let before = try scratch.tree(".dropmill")
        #expect(grade(try findings(pipeline, "work"), .rename) == .good)
        work.release()
        // Names of strangers in it would be refused.
        _ = try WorkFolder(for: pipeline)
        #expect(try scratch.tree(".dropmill") == before)
    }

    @Test("A work folder on another mount cannot claim", .enabled(if: TemporaryMount.isPossible, "needs root"))
    func otherMount() throws {
        let mount = try TemporaryMount(bind: scratch.makeFolder("elsewhere"), at: scratch.path("work"))
        let pipeline = try pipeline { $0.work = mount.path }
        let finding = try #require(try findings(pipeline, "work").first { $0.check == .rename })
        #expect(finding.grade == .problem)
        #expect(finding.remedy?.contains("`work:`") == true)
        #expect(try scratch.tree() == ["elsewhere/", "inbox/", "work/"])
    }

    @Test("It tells each folder that a start would refuse, and none of its remedies is refused")
    func trust() throws {
        let pipeline = try pipeline()
        try scratch.makeFolder("processed")
        #expect(grade(try findings(pipeline, "processed"), .trust) == .good)
        #expect(scratch.path("processed").withPlatformString { chmod($0, 0o777) } == 0)
        let finding = try #require(try findings(pipeline, "processed").first { $0.check == .trust })
        #expect(finding.grade == .problem)
        #expect(finding.fact.hasPrefix("'\(scratch.path("processed").text)' is writable by others"))
        #expect(finding.remedy?.hasPrefix("Restrict it (chmod go-w '\(scratch.path("processed").text)')") == true)
        let accepting = try self.pipeline { $0.trust = [scratch.path("processed")] }
        #expect(grade(try findings(accepting, "processed"), .trust) == .good)
    }

    @Test("A state folder that a start would refuse is a problem, and nobody is advised to become its owner")
    func state() throws {
        let state = try scratch.makeFolder("state")
        func findings() throws -> [Finding] {
            try #require(Examination().surroundings(state: state, watches: 1).first { $0.role == "state" }).findings
        }
        #expect(grade(try findings(), .trust) == .good)
        #expect(state.withPlatformString { chmod($0, 0o777) } == 0)
        #expect(grade(try findings(), .trust) == .problem)
        guard geteuid() == 0 else { return }
        #expect(state.withPlatformString { chmod($0, 0o700) } == 0)
        #expect(state.withPlatformString { chown($0, 65534, 65534) } == 0)
        #expect(grade(try findings(), .trust) == .problem)
        #expect(try findings().allSatisfy { $0.remedy?.contains("sudo -u nobody") != true })
    }

    @Test("Another file system for results means copies", .enabled(if: TemporaryMount.isPossible, "needs root"))
    func otherFileSystem() throws {
        let mount = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("processed"))
        let found = try findings(try pipeline(), "processed")
        #expect(grade(found, .rename) == .note)
        #expect(grade(found, .rights) == .good)
        #expect(try Folder.names(in: mount.path).isEmpty)
    }

    @Test("A full or read-only file system is a problem", .enabled(if: TemporaryMount.isPossible, "needs root"))
    func unusable() throws {
        let full = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("processed"))
        let readOnly = try TemporaryMount(tmpfs: "ro", at: scratch.path("failed"))
        let pipeline = try pipeline { $0.minFree = ByteSize(bytes: 1 << 30) }
        let space = try #require(try findings(pipeline, "processed").first { $0.check == .space })
        #expect(space.grade == .problem)
        #expect(space.fact == "4.0 MiB free, but `min_free` keeps 1.0 GiB, so nothing is claimed")
        let failed = try findings(pipeline, "failed")
        #expect(grade(failed, .fileSystem) == .problem)
        #expect(grade(failed, .rights) == .problem)
        #expect(grade(failed, .rename) == nil, "what cannot be written to needs no further trial")
        _ = (full, readOnly)
    }

    @Test("A folder that is a file is one to move away")
    func noFolder() throws {
        try scratch.write("x", to: "processed")
        let rights = try #require(try findings(try pipeline(), "processed").first { $0.check == .rights })
        #expect(rights.grade == .problem)
        #expect(rights.fact.hasSuffix("processed' is not a folder"))
    }

    @Test("It stops between two folders when asked")
    func stops() throws {
        #expect(Examination(isStopped: { true }).pipeline(try pipeline()).places.isEmpty)
    }

    @Test(
        "Limits of inotify: enough, nearly reached, too few",
        arguments: [
            (10, 128, 1, Finding.Grade.good), (120, 128, 1, .note), (128, 128, 1, .problem), (0, 4, 5, .problem),
        ])
    func limits(used: Int, limit: Int, needed: Int, grade: Finding.Grade) {
        let finding = InotifyLimits.judge(.watches, "max_user_watches", used: used, limit: limit, needed: needed)
        #expect(finding.grade == grade)
        #expect((finding.remedy == nil) == (grade == .good))
    }

    @Test("This process's own watches are counted")
    func usage() throws {
        func watches() -> String? { InotifyLimits.findings(needed: 1).first { $0.check == .watches }?.fact }
        let inotify = inotify_init1(Int32(IN_CLOEXEC))
        try #require(inotify >= 0)
        defer { close(inotify) }
        let watch = scratch.path.withPlatformString { inotify_add_watch(inotify, $0, UInt32(IN_CREATE)) }
        #expect(watch >= 0)
        #expect(watches().flatMap { Int($0.prefix { $0.isNumber }) } ?? 0 >= 1)
    }
}

@Suite("Watching one file") struct DropProbeTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func watch(_ name: String, quiet: Duration, for patience: Duration) throws -> DropProbe.Outcome {
        let pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path, processed: .delete, failed: scratch.path("failed"),
            ready: ReadyRule(quiet: quiet))
        return try DropProbe.watch(DropPath(try name.fileName), of: pipeline, patience: patience)
    }

    @Test("One that stands still is complete, one that is not there is gone")
    func ends() throws {
        try scratch.write("x", to: "a")
        try scratch.link("link", to: "a")
        #expect(try watch("a", quiet: .milliseconds(20), for: .seconds(20)) == .complete)
        #expect(try watch("b", quiet: .milliseconds(20), for: .seconds(20)) == .gone)
        guard case .waiting(.refused) = try watch("link", quiet: .milliseconds(20), for: .seconds(20)) else {
            Issue.record("a link is refused")
            return
        }
    }

    @Test("One that is held open, or has to stand for longer than we look, waits")
    func waits() throws {
        let writer = try OpenFile.open(scratch.path("a"), O_WRONLY | O_CREAT, mode: 0o600)
        try writer.write([1])
        let held = try watch("a", quiet: .milliseconds(20), for: .milliseconds(200))
        guard case .waiting(.heldOpen) = held else {
            Issue.record("somebody holds it open: \(held)")
            return
        }
        guard case .waiting(.quiet(_, of: .seconds(60))) = try watch("a", quiet: .seconds(60), for: .milliseconds(20))
        else {
            Issue.record("it has not stood for a minute")
            return
        }
        try writer.close()
    }
}

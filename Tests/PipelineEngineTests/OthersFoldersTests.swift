import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Folders that others made, or put into the place of ours, where things are published to.
@Suite("Folders of others") struct OthersFoldersTests {
    /// What stands where a folder of ours is to be.
    enum Obstacle: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case link, dangling, file, open, foreign
        var testDescription: String { rawValue }

        func put(_ relative: String, in scratch: ScratchFolder) throws {
            let path = scratch.path(relative)
            switch self {
            case .link: try scratch.link(relative, to: try scratch.makeFolder("canary").string)
            case .dangling: try scratch.link(relative, to: "nowhere")
            case .file: try scratch.write("", to: relative)
            case .open:
                try scratch.makeFolder(relative)
                #expect(path.withPlatformString { chmod($0, 0o1777) } == 0)
            case .foreign:
                try scratch.makeFolder(relative)
                #expect(path.withPlatformString { lchown($0, 65534, 65534) } == 0)
            }
        }
    }

    private static let obstacles = Obstacle.allCases.filter { $0 != .foreign || geteuid() == 0 }

    private func output(_ harness: SpoolHarness, to folder: String) throws -> Settlement {
        let job = try harness.job()
        var payload = Payload(dropOf: job)
        payload.destination = harness.scratch.path(folder)
        return harness.settlement(of: job, payload)
    }

    /// A job that failed, whose drop lay in `sub`.
    private func failure(_ harness: SpoolHarness) throws -> Settlement {
        let job = try harness.job()
        let drop = Drop(
            name: job.drop.name, folders: [try "sub".fileName], size: job.drop.size, droppedAt: job.drop.droppedAt)
        let deep = Job(id: job.id, pipeline: job.pipeline, drop: drop, claimedAt: job.claimedAt, folder: job.folder)
        return harness.settlement(of: deep, nil, .failed(.file("bad", "bad")))
    }

    @Test("An output goes beside what has the name of its folder", arguments: obstacles)
    func outputs(_ obstacle: Obstacle) throws {
        let harness = try SpoolHarness()
        try harness.scratch.makeFolder("output")
        try obstacle.put("output/2026", in: harness.scratch)
        for name in ["drop", "drop.2"] {
            let outcome = harness.settle(try output(harness, to: "output/2026/11"))
            #expect(outcome.settlement.record.state == .processed, "\(outcome.result)")
            #expect(try harness.scratch.text("output/2026.2/11/\(name)") == "content")
        }
        if obstacle == .link { #expect(try harness.scratch.tree("canary") == []) }
        #expect(Folder.kind(of: harness.scratch.path("output/nowhere")) == nil)
    }

    @Test("With 'on_conflict: fail' it fails")
    func outputsFail() throws {
        let harness = try SpoolHarness { pipeline, _ in pipeline.onConflict = .fail }
        try harness.scratch.makeFolder("output")
        try Obstacle.link.put("output/2026", in: harness.scratch)
        let outcome = harness.settle(try output(harness, to: "output/2026"))
        guard case .failed(let failure) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(failure.code == "conflict.taken")
        #expect(try harness.scratch.tree("canary") == [])
    }

    @Test("What comes after the names were chosen is not followed either", arguments: obstacles)
    func late(_ obstacle: Obstacle) throws {
        let harness = try SpoolHarness()
        let settlements = [try output(harness, to: "output/2026"), try failure(harness)]
        try harness.scratch.makeFolder("output")
        var batch = SettlementBatch(settlements, spool: harness.spool, journal: harness.writer, names: NameChooser())
        batch.prepare()
        for folder in ["output/2026", "failed/sub"] {
            if obstacle == .link, folder == "failed/sub" {
                try harness.scratch.link(folder, to: "../canary")
            } else {
                try obstacle.put(folder, in: harness.scratch)
            }
        }
        #expect(batch.finish().map(\.settlement.record.state) == [.processed, .failed])
        #expect(try harness.scratch.text("output/2026.2/drop") == "content")
        #expect(try harness.scratch.tree("failed/sub.2") == ["drop", "drop.error.json"])
        if obstacle == .link { #expect(try harness.scratch.tree("canary") == []) }
    }

    @Test("A copy to another file system does not follow one", .enabled(if: TemporaryMount.isPossible, "needs root"))
    func across() throws {
        let harness = try SpoolHarness()
        let mount = try TemporaryMount(tmpfs: "size=4m,mode=755", at: try harness.scratch.makeFolder("output"))
        defer { withExtendedLifetime(mount) {} }
        try Obstacle.link.put("output/2026", in: harness.scratch)
        #expect(harness.settle(try output(harness, to: "output/2026")).settlement.record.state == .processed)
        #expect(try harness.scratch.text("output/2026.2/drop") == "content")
        #expect(try harness.scratch.tree("canary") == [])
    }

    @Test("Somebody else's folder is used where that was accepted, but never a link")
    func accepted() throws {
        let scratch = try ScratchFolder()
        let output = try scratch.makeFolder("output")
        for obstacle in [Obstacle.open, .link] { try obstacle.put("output/\(obstacle)", in: scratch) }
        let (open, link) = (output.appending("open"), output.appending("link"))
        var folders = OpenFolders(below: [output], accepting: [open, link])
        #expect(try folders.make(open, noting: { _ in })?.path == open)
        #expect(try folders.make(link, noting: { _ in })?.path == nil)
        folders = OpenFolders(below: [output], accepting: [output])
        #expect(try folders.make(open, noting: { _ in })?.path == nil)
    }

    @Test("However many folders there are, few are open at a time")
    func many() throws {
        let scratch = try ScratchFolder()
        let before = try Folder.names(in: "/proc/self/fd").count
        var folders = OpenFolders(below: [scratch.path])
        for number in 0..<300 {
            let path = scratch.path("f\(number)")
            #expect(try folders.make(path.appending("g"), noting: { _ in })?.path == path.appending("g"))
        }
        #expect(try Folder.names(in: "/proc/self/fd").count < before + 400)
        #expect(try FileTree.list(scratch.path).folders.count == 600)
    }
}

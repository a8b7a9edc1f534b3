import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Doctor
@testable import Files
@testable import FolderWatch
@testable import PipelineKit
@testable import Readiness

/// A file system that answers from memory what others have changed since.
@Suite("Remembered attributes", .timeLimit(.minutes(5))) struct AttributeTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func mirror() throws -> MirrorMount {
        try MirrorMount(of: scratch.makeFolder("behind"), at: scratch.makeFolder("share"), memory: 3600)
    }

    @Test(
        "A look that decides sees what was written behind the kernel's back",
        .enabled(if: MirrorMount.isPossible, Comment(rawValue: MirrorMount.skip)))
    func asked() throws {
        let share = try mirror()
        try scratch.write("123", to: "behind/folder/file")
        let folder = try OpenFile.openFolder(share.path.appending("folder"))
        let name = try "file".fileName, above = try OpenFile.openFolder(share.path)
        #expect(try Sample.examine(name, in: folder).size == 3)
        #expect(try TreeLook.examine("folder".fileName, in: above, asking: nil).sample.size == 3)
        let open = try OpenFile.open(name, in: folder, O_RDONLY)
        try scratch.write("1234567890", to: "behind/folder/file")
        // What the kernel remembers, for as long as it was told to: else this test shows nothing.
        #expect(try Sample.examine(name, in: folder).size == 3)
        #expect(try Sample.examine(name, in: folder, by: .asked).size == 10)
        try scratch.write("12345678901", to: "behind/folder/file")
        #expect(try open.status().st_size == 10)
        #expect(try Attributes.asked.of(open).st_size == 11)
        try scratch.write("123456789012", to: "behind/folder/file")
        #expect(try TreeLook.examine("folder".fileName, in: above, asking: nil).sample.size == 11)
        let look = try TreeLook.examine("folder".fileName, in: above, asking: nil, by: .asked)
        #expect(look.sample.size == 12)
    }

    @Test(
        "A marker and a sibling are what they are behind the kernel's back",
        .enabled(if: MirrorMount.isPossible, Comment(rawValue: MirrorMount.skip)))
    func besides() throws {
        let share = try mirror()
        let folder = try OpenFile.openFolder(share.path)
        let (drop, part, done) = (try "a".fileName, try "a.part".fileName, try ".done".fileName)
        for name in [drop, part, done] { try scratch.write("x", to: "behind/\(name)") }
        let examiner = Examiner.testing(
            share.path, ReadyRule(marker: try MarkerRule(Template(done.text, use: .name))), isNotified: false)
        #expect(try examiner.lack(of: drop, in: folder) == .sibling(part))
        try Folder.remove(scratch.path("behind/a.part"))
        #expect(try examiner.lack(of: drop, in: folder) == nil)
        // The kernel remembers the marker's time of before.
        #expect(try Sample.examine(done, in: folder).size == 1)
        try scratch.write("xx", to: "behind/a")
        #expect(try examiner.lack(of: drop, in: folder) == .marker(done, .outdated))
        try scratch.write("xx", to: "behind/.done")
        #expect(try Sample.examine(done, in: folder).size == 1)
        #expect(try examiner.lack(of: drop, in: folder) == nil)
    }

    @Test("Asked or remembered, a local file is the same")
    func local() throws {
        try scratch.write("123", to: "file")
        try scratch.link("link", to: "file")
        let folder = try OpenFile.openFolder(scratch.path)
        for name in ["file", "link", "missing"] {
            let name = try name.fileName
            #expect(try Sample.examine(name, in: folder) == Sample.examine(name, in: folder, by: .asked))
        }
    }

    /// Written every 200 ms, for longer than a drop has to stand still.
    @Test(
        "A file that grows behind the kernel's back is taken once it is whole",
        .enabled(if: MirrorMount.isPossible, Comment(rawValue: MirrorMount.skip)))
    func grows() async throws {
        let share = try mirror()
        try scratch.write("", to: "behind/inbox/.keep")
        let engine = try EngineHarness(scratch: scratch, stages: [.passing], quiet: .seconds(2)) {
            $0.inbox = share.path.appending("inbox")
            $0.work = share.path.appending("work")
            $0.processed = .folder(share.path.appending("processed"))
            $0.failed = share.path.appending("failed")
        }
        try scratch.write("0", to: "behind/inbox/a")
        try engine.start()
        let shell = try #require(Tool.find("sh"))
        let script = "for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0; do printf $i >>inbox/a; sleep 0.2; done"
        let output = try shell.run(["-ec", script], in: scratch.path("behind"))
        #expect(output.status == 0, "\(output.text)")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.text("behind/processed/a") == "012345678901234567890")
        _ = await engine.stop()
    }

    @Test(
        "How long a file system may answer from memory is known by its kind and options",
        arguments: [
            ("nfs4", "rw,vers=4.2", 60), ("nfs4", "rw,acregmin=3,acregmax=5", 5), ("nfs", "rw,noac", nil),
            ("cifs", "rw,actimeo=30", 30), ("fuse.sshfs", "rw", 20), ("fuse.rclone", "rw", 300), ("ext4", "rw", nil),
        ] as [(String, String, Int?)])
    func memory(kind: String, options: String, seconds: Int?) {
        let mount = MountTable.Mount(
            id: 1, point: "/mnt", kind: kind, source: "x", options: options.split(separator: ",").map { String($0) })
        #expect(AttributeMemory.of(mount)?.longest == seconds.map { .seconds($0) })
    }
}

extension Sample {
    fileprivate var size: Int64? { if case .file(let fingerprint, _) = self { fingerprint.size } else { nil } }
}

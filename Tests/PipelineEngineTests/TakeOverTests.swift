import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

/// Drops of other users, which only root can make and take over.
@Suite("Taking over", .enabled(if: geteuid() == 0, "only root has other users' files"))
struct TakeOverTests {
    private let scratch: ScratchFolder
    private let ids = JobIDGenerator()
    private static let alice: uid_t = 64_002

    init() throws {
        scratch = try ScratchFolder()
        for folder in ["inbox", "processed", "failed"] { try scratch.makeFolder(folder) }
    }

    private func spool(_ adjust: (inout Pipeline) -> Void = { _ in }) throws -> Spool {
        var pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")), failed: scratch.path("failed"))
        adjust(&pipeline)
        return Spool(pipeline: pipeline, work: try WorkFolder(for: pipeline))
    }

    private func give(_ path: String, mode: mode_t) {
        let path = scratch.path(path)
        #expect(path.withPlatformString { lchown($0, Self.alice, Self.alice) } == 0)
        #expect(path.withPlatformString { chmod($0, mode) } == 0)
    }

    private func status(_ path: FilePath) throws -> stat {
        try #require(try Folder.holding(path).status(of: path.lastEntry))
    }

    private func claim(_ name: String, _ spool: Spool) throws -> Spool.ClaimOutcome {
        let inbox = try OpenFile.openFolder(spool.pipeline.inbox)
        let sample =
            spool.pipeline.ready.unit == .folder
            ? try TreeLook.examine(name.fileName, in: inbox, asking: nil).sample
            : try Sample.examine(name.fileName, in: inbox)
        guard case .file(let ready, _) = sample else { throw NotAName() }
        return try spool.claimAndProve(name.fileName, ready: ready, in: inbox, as: ids.next())
    }

    private func claimed(_ name: String, _ spool: Spool) throws -> Spool.Claimed {
        guard case .taken(let claimed) = try claim(name, spool) else { throw NotAName() }
        return claimed
    }

    @Test("A file of another user is ours once it is claimed, for nobody else to write to")
    func file() throws {
        try scratch.write("content", to: "inbox/a")
        give("inbox/a", mode: 0o6775)
        let claimed = try claimed("a", try spool())
        #expect(claimed.failure == nil)
        let status = try status(claimed.job.original)
        #expect(status.st_uid == 0)
        #expect(status.st_mode & 0o7777 == 0o755)
        #expect(try Spool.sender(of: claimed.job) == TakeOver.Sender(user: Self.alice, group: Self.alice, mode: 0o775))
    }

    @Test("A drop of our own that nobody else can write to is left as it is")
    func own() throws {
        try scratch.write("content", to: "inbox/a")
        #expect(scratch.path("inbox/a").withPlatformString { chmod($0, 0o644) } == 0)
        let claimed = try claimed("a", try spool())
        #expect(try Spool.sender(of: claimed.job) == nil)
        #expect(try status(claimed.job.original).st_mode & 0o777 == 0o644)
    }

    @Test("A folder with all it holds is ours, and goes back to its sender when it fails")
    func folder() throws {
        try scratch.write("1", to: "inbox/d/sub/a")
        for (path, mode) in [("inbox/d/sub/a", 0o600), ("inbox/d/sub", 0o2770), ("inbox/d", 0o2775)] {
            give(path, mode: mode_t(mode))
        }
        let spool = try spool { $0.ready.unit = .folder }
        let claimed = try claimed("d", spool)
        let original = claimed.job.original
        for (path, mode) in [("", 0o755), ("sub", 0o750), ("sub/a", 0o600)] {
            let status = try status(original.pushing(FilePath(path)))
            #expect(status.st_uid == 0)
            #expect(status.st_mode & 0o7777 == mode_t(mode))
        }
        try spool.giveBack(claimed.job)
        for path in ["", "sub", "sub/a"] { #expect(try status(original.pushing(FilePath(path))).st_uid == Self.alice) }
        #expect(try status(original).st_mode & 0o777 == 0o775)
    }

    @Test("A link to another user's file is nothing of the sender's to give")
    func hardLink() throws {
        try scratch.write("secret", to: "canary")
        give("canary", mode: 0o600)
        let made = scratch.path("canary").withPlatformString { from in
            scratch.path("inbox/a").withPlatformString { link(from, $0) }
        }
        #expect(made == 0)
        let claimed = try claimed("a", try spool())
        #expect(claimed.failure?.code == "ready.unfit")
        #expect(try status(scratch.path("canary")).st_uid == Self.alice)
    }

    @Test("Within a sender's folder not even our own file is taken for his, if it has another name elsewhere")
    func hardLinkInFolder() throws {
        try scratch.write("secret", to: "canary")
        try scratch.makeFolder("inbox/d")
        let made = scratch.path("canary").withPlatformString { from in
            scratch.path("inbox/d/shadow").withPlatformString { link(from, $0) }
        }
        #expect(made == 0)
        give("inbox/d", mode: 0o775)
        let claimed = try claimed("d", try spool { $0.ready.unit = .folder })
        #expect(claimed.failure?.code == "ready.unfit")
        #expect(try status(scratch.path("canary")).st_uid == 0)
    }

    @Test("What the take-over did not reach is not given to the sender as if it had been his")
    func refusedHalfway() throws {
        try scratch.write("1", to: "inbox/d/mine")
        try scratch.write("secret", to: "inbox/d/sub/theirs")
        try scratch.link("inbox/d/sub/link", to: "elsewhere")
        for path in ["inbox/d/mine", "inbox/d/sub", "inbox/d"] { give(path, mode: 0o775) }
        let job = try job(of: "d")
        var taking = TakeOver()
        let folder = try Folder.open(job.folder)
        var notes: [TakeOver.Sender] = []
        let outcome = try taking.take(job.drop.name, in: folder.file) { notes.append($0) }
        guard case .refused = outcome else { throw NotAName() }
        #expect(notes.allSatisfy { !$0.isAlone })
        try Spool.note(try #require(notes.last), of: job)
        try spool().giveBack(job)
        #expect(try status(job.original).st_uid == Self.alice)
        #expect(try status(job.original.appending("sub").appending("theirs")).st_uid == 0)
        #expect(try Spool.sender(of: job) == nil, "it is given back once")
    }

    @Test("A take-over that is broken off goes on later, and who the drop came from is not forgotten")
    func brokenOff() throws {
        try scratch.write("1", to: "inbox/d/mine")
        try scratch.write("2", to: "inbox/d/sub/too")
        for path in ["inbox/d/mine", "inbox/d/sub/too", "inbox/d/sub", "inbox/d"] { give(path, mode: 0o775) }
        let job = try job(of: "d")
        let folder = try Folder.open(job.folder)
        var first = TakeOver { true }
        #expect(throws: IOError.self) {
            _ = try first.take(job.drop.name, in: folder.file) { (sender) throws(IOError) in
                try Spool.note(sender, of: job)
            }
        }
        #expect(try status(job.original).st_uid == 0)
        let noted = try Spool.sender(of: job)
        #expect(noted?.user == Self.alice && noted?.isAlone == false)
        var second = TakeOver(noted: noted)
        let outcome = try second.take(job.drop.name, in: folder.file) { (sender) throws(IOError) in
            try Spool.note(sender, of: job)
        }
        #expect(outcome == .taken && second.sender == noted)
        #expect(try status(job.original.appending("sub").appending("too")).st_uid == 0)
        #expect(try Spool.sender(of: job) == noted)
    }

    @Test("A tree that grows beyond the limits while it is taken over is refused")
    func limits() throws {
        try scratch.write("1", to: "inbox/d/a/b/c")
        give("inbox/d", mode: 0o775)
        for (limits, words) in [
            (ReadyRule.Limits(depth: 1), "deep"), (ReadyRule.Limits(entries: 2), "more than 2 entries"),
        ] {
            var taking = TakeOver(limits)
            let outcome = try taking.take("d".fileName, in: try OpenFile.openFolder(scratch.path("inbox"))) { _ in }
            guard case .refused(let reason) = outcome else { throw NotAName() }
            #expect(reason.contains(words))
        }
    }

    /// A job whose drop was moved there by the test itself.
    private func job(of name: String) throws -> Job {
        let id = ids.next()
        let folder = try scratch.makeFolder("job")
        let moved = scratch.path("inbox").appending(try name.fileName).withPlatformString { from in
            folder.appending(name).withPlatformString { rename(from, $0) }
        }
        #expect(moved == 0)
        let drop = Drop(name: try name.fileName, size: 1, droppedAt: id.time, isFolder: true)
        return Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: folder)
    }

    @Test("What is copied since it cannot be taken over is ours, and the sender's own is gone")
    func copies() throws {
        try scratch.write("content", to: "inbox/a")
        let spool = try spool()
        let claimed = try claimed("a", spool)
        let before = try status(claimed.job.original)
        guard case .complete(let copied) = try spool.takeCopy(of: claimed.job) else { throw NotAName() }
        let after = try status(copied.job.original)
        #expect(before.st_ino != after.st_ino)
        #expect(try ScratchFolder.read(copied.job.original) == Array("content".utf8))
        #expect(try Folder.names(in: copied.job.folder) == [try "a".fileName])
    }

    @Test("With `keep` a change after the claim is seen, also when its time was set back")
    func keep() throws {
        try scratch.write("content", to: "inbox/a")
        give("inbox/a", mode: 0o644)
        let claimed = try claimed("a", try spool { $0.ownership = .keep })
        let original = claimed.job.original
        let seal = try #require(claimed.seal)
        #expect(try status(original).st_uid == Self.alice)
        #expect(try seal.broken(by: claimed.job) == nil)
        let times = [try status(original).st_atim, try status(original).st_mtim]
        try scratch.write(Array("CONTENT".utf8), to: original)
        #expect(original.withPlatformString { utimensat(AT_FDCWD, $0, times, 0) } == 0)
        #expect(try seal.broken(by: claimed.job) == "a")
    }

    @Test("With `keep` all that is added to a folder after the claim is seen, unless a stage may have made it")
    func added() throws {
        try scratch.write("content", to: "inbox/d/sub/file")
        try scratch.write("secret", to: "ours")
        for path in ["inbox/d/sub/file", "inbox/d/sub", "inbox/d"] { give(path, mode: 0o755) }
        let job = try claimed("d", try spool { ($0.ownership, $0.ready.unit) = (.keep, .folder) }).job
        let (seal, added) = (try Seal(of: job), job.original.pushing("sub/added"))
        let make: [(String, (UnsafePointer<CChar>) -> Int32)] = [
            ("link", { symlink("/etc/passwd", $0) }), ("FIFO", { mkfifo($0, 0o644) }), ("folder", { mkdir($0, 0o755) }),
            ("file", { creat($0, 0o644) }),
        ]
        for (what, make) in make {
            #expect(added.withPlatformString(make) >= 0)
            #expect(added.withPlatformString { lchown($0, Self.alice, Self.alice) } == 0)
            #expect(try seal.broken(by: job) == "d/sub/added", "\(what)")
            try Folder.remove(added)
        }
        // Another name of a file of ours.
        let ours = scratch.path("ours")
        #expect(ours.withPlatformString { from in added.withPlatformString { link(from, $0) } } == 0)
        #expect(try seal.broken(by: job) == "d/sub/added")
        try Folder.remove(added)
        try scratch.write(Array("digest".utf8), to: job.original.appending("SHA256SUMS"))
        #expect(try seal.broken(by: job) == nil)
        try Folder.remove(job.original.pushing("sub/file"))
        #expect(try seal.broken(by: job) != nil)
    }

    @Test("What was closed in a drop stays closed in what is made of it, unless the pipeline says what outputs get")
    func rights() throws {
        #expect(OutputRights.openness(of: 0o600) == 0o700)
        #expect(OutputRights.openness(of: 0o640) == 0o770)
        #expect(OutputRights.openness(of: 0o644) == 0o777)
        let plain = OutputRights()
        #expect(plain.mode(of: 0o644, isFolder: false, drop: 0o600) == 0o600)
        #expect(plain.mode(of: 0o755, isFolder: true, drop: 0o640) == 0o750)
        let open = OutputRights(mode: 0o640)
        #expect(open.mode(of: 0o600, isFolder: false, drop: 0o600) == 0o640)
        #expect(open.mode(of: 0o700, isFolder: true, drop: 0o600) == 0o750)
    }
}

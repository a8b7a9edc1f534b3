@preconcurrency import Dispatch
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

/// Folders of jobs, one job after another.
@Suite("Work folder") struct WorkFolderTests {
    private let harness: SpoolHarness
    private let ids = JobIDGenerator()
    private var work: WorkFolder { harness.spool.work }

    init() throws { harness = try SpoolHarness() }

    private func inode(_ path: FilePath) -> FileIdentity? { FileIdentity.of(path) }

    @Test("A folder passes from a job that is over to the next one as it is")
    func usedAgain() throws {
        let first = ids.next(), second = ids.next()
        let folder = try work.makeFolder(for: first)
        let identity = try #require(inode(folder))
        _ = try harness.scratch.write(Array("x".utf8), to: folder.appending(".beside-1-1"))
        #expect(try work.empty(folder, of: first) == (nil, true))
        work.free(folder)
        let next = try work.makeFolder(for: second)
        #expect(next == folder)
        #expect(inode(next) == identity)
        #expect(try Folder.names(in: next).isEmpty)
        // It is not free yet.
        #expect(try work.makeFolder(for: ids.next()) != folder)
    }

    @Test("Where a stage tells others the job's id its folder bears it, so that a kill before its first row keeps it")
    func toldIDs() throws {
        let harness = try SpoolHarness { pipeline, _ in
            let telling = FakeStage({ (payload, _) throws(Failure) in payload }, tellsJob: true)
            pipeline.stages.append(StageEntry(kind: "telling", stage: telling))
        }
        let work = harness.spool.work
        for _ in 0..<2 {
            let id = ids.next()
            let folder = try work.makeFolder(for: id)
            #expect(folder == work.folder(id))
            work.free(folder)
            #expect(try Folder.names(in: work.active).isEmpty)
        }
    }

    @Test("A daemon that stops removes free folders; those of earlier runs are never used again")
    func earlierRuns() throws {
        let first = ids.next(), left = ids.next()
        work.free(try work.makeFolder(for: first))
        let other = try work.makeFolder(for: left)
        #expect(other == work.folder(first))
        let kept = try work.makeFolder(for: ids.next())
        work.free(kept)
        work.release()
        #expect(try Folder.names(in: work.active).map(\.text) == [first.text])
        let again = try WorkFolder(for: harness.spool.pipeline)
        again.free(other)
        #expect(try Folder.names(in: again.active).isEmpty)
        let next = ids.next()
        #expect(try again.makeFolder(for: next) == again.folder(next))
    }

    @Test("Where somebody removed a free folder a claim makes it again")
    func tidiedAway() throws {
        let folder = try work.makeFolder(for: ids.next())
        work.free(folder)
        try Folder.remove(folder)
        for (number, rejected) in [Failure?.none, .file("test.bad", "Bad.")].enumerated() {
            let name = try "drop\(number)".fileName
            _ = try harness.scratch.write("x", to: "inbox/sub/\(name)")
            let inbox = try OpenFile.openFolder(harness.scratch.path("inbox/sub"))
            let claim = try harness.spool.claim(
                name, ready: .unknown(), in: inbox, at: InboxFolder(number == 0 ? [] : ["sub".fileName]),
                as: ids.next(),
                rejected: rejected)
            guard case .claimed(let job) = claim else { throw NotAName() }
            #expect(job.folder == folder)
            #expect(try ScratchFolder.read(job.original) == Array("x".utf8))
            work.free(folder)
            try Folder.remove(folder)
        }
    }

    @Test("What somebody put into a free folder is not destroyed, nor by the end of a daemon")
    func strangers() throws {
        let folder = try work.makeFolder(for: ids.next())
        work.free(folder)
        _ = try harness.scratch.write(Array("x".utf8), to: folder.appending("theirs"))
        let job = ids.next()
        #expect(try work.makeFolder(for: job) == folder)
        let aside = try #require(try work.empty(folder, of: job).path)
        #expect(aside == work.astray.appending(job.text))
        #expect(try ScratchFolder.read(aside.appending("theirs")) == Array("x".utf8))
        let second = try work.makeFolder(for: ids.next())
        work.free(second)
        _ = try harness.scratch.write(Array("x".utf8), to: second.appending("theirs"))
        work.release()
        #expect(try ScratchFolder.read(second.appending("theirs")) == Array("x".utf8))
    }

    @Test(
        "What cannot be removed does not hold up its job: it is out of the way, and goes at a later start",
        .enabled(if: TemporaryMount.isPossible && Tool.find("chattr") != nil, "needs root, and chattr"))
    func immovable() throws {
        let chattr = try #require(Tool.find("chattr"))
        let job = ids.next()
        let folder = try work.makeFolder(for: job)
        let left = folder.appending(".1-fake").appending("left")
        _ = try harness.scratch.write(Array("x".utf8), to: left)
        try #require(try chattr.run(["+i", left.string]).status == 0)
        #expect(try work.empty(folder, of: job) == (nil, true))
        #expect(Folder.kind(of: folder) == nil)
        let kept = work.path.appending("trash").appending(job.text)
        work.release()
        let second = try WorkFolder(for: harness.spool.pipeline)
        #expect(Folder.kind(of: kept.appending(".1-fake").appending("left")) == .regular)
        second.release()
        #expect(try chattr.run(["-i", kept.appending(".1-fake").appending("left").string]).status == 0)
        let third = try WorkFolder(for: harness.spool.pipeline)
        third.emptyTrash(but: [job])
        #expect(Folder.kind(of: kept) == .folder)
        third.emptyTrash(but: [])
        #expect(Folder.kind(of: kept) == nil)
    }

    @Test("Folders that an older version kept elsewhere go, but for what is in them")
    func spares() throws {
        work.release()
        let old = work.path.appending("spare")
        try harness.scratch.makeFolder(".dropmill/test/spare/\(ids.next())")
        #expect(Folder.kind(of: old) == .folder)
        let again = try WorkFolder(for: harness.spool.pipeline)
        #expect(Folder.kind(of: old) == nil)
        again.release()
        _ = try harness.scratch.write(Array("x".utf8), to: old.appending("theirs"))
        _ = try WorkFolder(for: harness.spool.pipeline)
        #expect(try ScratchFolder.read(old.appending("theirs")) == Array("x".utf8))
    }

    @Test("What a doubtful claim brought is a job that no start has counted; what is no drop is set aside, and told")
    func doubts() async throws {
        let drop = ids.next(), link = ids.next(), unused = ids.next()
        for id in [drop, link, unused] { work.doubt(work.folder(id), of: id) }
        try harness.scratch.write(Array("x".utf8), to: try work.makeFolder(for: drop).appending("a".fileName))
        let folder = try work.makeFolder(for: link)
        #expect(folder.appending("b").withPlatformString { symlink("/etc/passwd", $0) } == 0)
        _ = try work.makeFolder(for: unused)
        let said = Mutex<[String]>([])
        let intake = Intake(spool: harness.spool, events: NoEvents(because: "none here"), ids: ids, once: false) {
            @Sendable message in
            switch message {
            case .claimed(let claimed, let adopted):
                said.withLock { $0 += claimed.map { "\($0.job.drop.name)\(adopted ? " adopted" : "")" } }
            case .keptAside(let path): said.withLock { $0.append("kept \(path.lastName?.text ?? "")") }
            default: break
            }
        }
        intake.start(adopting: [])
        #expect(await eventually { said.withLock { $0.count } == 2 })
        #expect(said.withLock { $0 } == ["kept \(link)", "a"])
        #expect(Folder.kind(of: work.astray.appending(link.text).appending("b")) == .symbolicLink)
        #expect(try Folder.names(in: work.active).map(\.text) == [drop.text])
        await withCheckedContinuation { done in intake.stop { @Sendable in done.resume() } }
    }

    @Test(
        "A folder that is somebody's is refused as it is, also where he has a file of a name that is ours",
        arguments: [["owner", "other"], ["owner"], ["owner.txt"]])
    func mistyped(names: [String]) throws {
        for name in names { try harness.scratch.write("mine", to: "theirs/\(name)") }
        var pipeline = harness.spool.pipeline
        pipeline.work = harness.scratch.path("theirs")
        #expect(throws: FolderError.self) { try WorkFolder(for: pipeline) }
        #expect(try harness.scratch.tree("theirs") == names.sorted())
        for name in names {
            #expect(try ScratchFolder.read(harness.scratch.path("theirs/\(name)")) == Array("mine".utf8))
        }
    }

    @Test("A start that fails after it took the folder gives it back")
    func givenBack() throws {
        try harness.scratch.write("x", to: "theirs/active")
        var pipeline = harness.spool.pipeline
        pipeline.work = harness.scratch.path("theirs")
        #expect(throws: FolderError.self) { try WorkFolder(for: pipeline) }
        #expect(try harness.scratch.tree("theirs") == ["active"])
    }

    @Test(
        "A disk that is mounted in the place of another one is not taken for it, though its root has the same inode",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func anotherDisk() throws {
        var pipeline = harness.spool.pipeline
        pipeline.inbox = harness.scratch.path("disk")
        var disk: TemporaryMount? = try TemporaryMount(tmpfs: "size=1m,mode=700", at: pipeline.inbox)
        let work = try WorkFolder(for: pipeline)
        let place = WorkPlace(path: work.path, beside: pipeline.inbox)
        let before = WorkPlace(path: pipeline.inbox, beside: pipeline.inbox)
        #expect(place.covered(by: [place], isEmpty: true) == [])
        disk = nil
        disk = try TemporaryMount(tmpfs: "size=1m,mode=700", at: pipeline.inbox)
        let other = WorkPlace(path: work.path, beside: pipeline.inbox)
        let after = WorkPlace(path: pipeline.inbox, beside: pipeline.inbox)
        // Kernels before 6.8 have no such number.
        #expect(after.isRemounted(since: [before]) == (before.mount != 0))
        #expect(!after.isRemounted(since: [after]) && !after.isRemounted(since: []))
        #expect(place.inbox == other.inbox)
        #expect(try !work.remake(for: pipeline))
        #expect(!place.isGone(beside: pipeline.inbox))
        #expect(other.covered(by: [place], isEmpty: false) == [place])
        #expect(try harness.scratch.tree("disk") == [])
        // Gone from this one, it is made again.
        let second = try WorkFolder(for: pipeline)
        try Folder.remove(second.path.removingLastComponent())
        #expect(try second.remake(for: pipeline))
        withExtendedLifetime(disk) {}
    }

    @Test("What a power cut left of our own file is no stranger's")
    func torn() throws {
        work.release()
        try harness.scratch.write([0, 0, 0], to: work.path.appending("owner"))
        _ = try WorkFolder(for: harness.spool.pipeline)
    }

    @Test("What comes and goes with its folder is never taken for gone")
    func comingAndGoing() async throws {
        let (present, removed) = (try work.makeFolder(for: ids.next()), try work.makeFolder(for: ids.next()))
        try Folder.remove(removed)
        let (place, elsewhere) = (work.path, harness.scratch.path("elsewhere"))
        let isOver = Mutex(false)
        let moved = Mutex<Result<Void, IOError>?>(nil)
        // A thread of its own: tests beside this one may have all others.
        DispatchQueue(label: "mover").async { @Sendable in
            let result = Result { () throws(IOError) in
                while !isOver.withLock(\.self) {
                    try NoReplace.rename(place, to: elsewhere)
                    try NoReplace.rename(elsewhere, to: place)
                }
            }
            moved.withLock { $0 = result }
        }
        var answers: [Bool?: Int] = [:]
        for count in 0..<1_000_000 where count < 2_000 || answers.count < 2 {
            answers[try work.isGone(present), default: 0] += 1
        }
        isOver.withLock { $0 = true }
        #expect(await eventually { moved.withLock { $0 != nil } })
        try moved.withLock { try $0?.get() }
        #expect(Set(answers.keys) == [false, nil], "\(answers)")
        #expect(try work.isGone(removed) == true)
        #expect(try work.isGone(place.removingLastComponent()) == nil, "it is not in it")
    }
}

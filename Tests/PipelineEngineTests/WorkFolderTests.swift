import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// Folders of jobs, one job after another.
@Suite("Work folder") struct WorkFolderTests {
    private let harness: SpoolHarness
    private let ids = JobIDGenerator()
    private var work: WorkFolder { harness.spool.work }

    init() throws { harness = try SpoolHarness() }

    private func inode(_ path: FilePath) -> FileIdentity? { FileIdentity.of(path) }

    @Test("A folder passes from a job that is over to the next one, empty")
    func usedAgain() throws {
        let first = ids.next(), second = ids.next()
        let folder = try work.makeFolder(of: first)
        let identity = try #require(inode(folder))
        _ = try harness.scratch.write(Array("x".utf8), to: folder.appending(".beside-1-1"))
        try work.removeFolder(of: first)
        let next = try work.makeFolder(of: second)
        #expect(inode(next) == identity)
        #expect(Folder.kind(of: folder) == nil)
        #expect(try Folder.names(in: next).isEmpty)
    }

    @Test("Those that nobody uses are put away, used from there, and removed by the next start")
    func putAway() throws {
        let first = ids.next(), second = ids.next()
        let identity = try #require(inode(try work.makeFolder(of: first)))
        try work.removeFolder(of: first)
        work.tidy()
        #expect(try Folder.names(in: work.active).isEmpty)
        let next = try work.makeFolder(of: second)
        #expect(inode(next) == identity)
        try work.removeFolder(of: second)
        work.tidy()
        work.release()
        let again = try WorkFolder(for: harness.spool.pipeline)
        #expect(try Folder.names(in: again.path.appending("spare")).isEmpty)
    }

    @Test("Where somebody removed a kept folder there is a new one")
    func tidiedAway() throws {
        let first = ids.next(), second = ids.next()
        let folder = try work.makeFolder(of: first)
        try work.removeFolder(of: first)
        try Folder.remove(folder)
        #expect(Folder.kind(of: try work.makeFolder(of: second)) == .folder)
    }

    @Test("A folder that is gone is not kept, and what somebody put into a kept one is not destroyed")
    func strangers() throws {
        let gone = ids.next(), kept = ids.next()
        try Folder.remove(try work.makeFolder(of: gone))
        try work.removeFolder(of: gone)
        let folder = try work.makeFolder(of: kept)
        try work.removeFolder(of: kept)
        work.tidy()
        #expect(Folder.kind(of: folder) == nil)
        let spare = work.path.appending("spare").appending(kept.text)
        #expect(try Folder.names(in: work.path.appending("spare")) == [try kept.text.fileName])
        _ = try harness.scratch.write(Array("x".utf8), to: spare.appending("theirs"))
        work.release()
        let again = try WorkFolder(for: harness.spool.pipeline)
        #expect(try ScratchFolder.read(again.path.appending("spare").appending(kept.text).appending("theirs")) == [120])
    }

    @Test("Of more than 256 folders the others are removed")
    func enough() throws {
        let all = (1...260).map { _ in ids.next() }
        for id in all { _ = try work.makeFolder(of: id) }
        for id in all { try work.removeFolder(of: id) }
        #expect(try Folder.names(in: work.active).count == 256)
        work.tidy()
        #expect(try Folder.names(in: work.active).isEmpty)
        #expect(try Folder.names(in: work.path.appending("spare")).count == 256)
    }

    @Test("What a doubtful claim brought is a job that no start has counted; what is no drop is set aside, and told")
    func doubts() async throws {
        let drop = ids.next(), link = ids.next(), unused = ids.next()
        for id in [drop, link, unused] { work.doubt(id) }
        try harness.scratch.write(Array("x".utf8), to: try work.makeFolder(of: drop).appending("a".fileName))
        let folder = try work.makeFolder(of: link)
        #expect(folder.appending("b").withPlatformString { symlink("/etc/passwd", $0) } == 0)
        _ = try work.makeFolder(of: unused)
        let said = Mutex<[String]>([])
        let intake = Intake(spool: harness.spool, inotify: nil, ids: ids, once: false) { @Sendable message in
            switch message {
            case .claimed(let claimed, let adopted):
                said.withLock { $0 += claimed.map { "\($0.job.drop.name)\(adopted ? " adopted" : "")" } }
            case .keptAside(let path): said.withLock { $0.append("kept \(path.lastName?.text ?? "")") }
            default: break
            }
        }
        intake.start(adopting: [], resumed: [])
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
        #expect(place.covered(by: [place], isEmpty: true) == [])
        disk = nil
        disk = try TemporaryMount(tmpfs: "size=1m,mode=700", at: pipeline.inbox)
        let other = WorkPlace(path: work.path, beside: pipeline.inbox)
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
}

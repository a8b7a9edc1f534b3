import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

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
}

import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

@Suite struct NodeFoldersTests {
    private let scratch: ScratchFolder
    private let work: WorkFolder
    private let nodes: FilePath
    private let ids = JobIDGenerator()

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("inbox")
        work = try WorkFolder(for: Self.pipeline(scratch), of: "own")
        nodes = scratch.path(".dropmill/a/nodes")
    }

    private static func pipeline(_ scratch: ScratchFolder) -> Pipeline {
        Pipeline(
            name: "a", source: scratch.path("a.yaml"), inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("done")),
            failed: scratch.path("failed"), stages: [])
    }

    private var folders: NodeFolders { get throws { try #require(NodeFolders(beside: work)) } }

    private func leave(_ names: String..., of id: JobID, at node: String) throws {
        for name in names {
            try scratch.write("\(name) of \(node)", to: ".dropmill/a/nodes/\(node)/active/\(id.text)/\(name)")
        }
    }

    private func names(of id: JobID, at node: String) throws -> [String] {
        let folder = nodes.appending(node).appending("active").appending(id.text)
        guard Folder.kind(of: folder) != nil else { return [] }
        return try Folder.names(in: folder).map(\.text).sorted()
    }

    @Test func whatIsThereComesHereWhole() throws {
        let id = ids.next()
        try leave("drop", ".origin", ".1-unpack", of: id, at: "dead")
        #expect(try folders.others() == ["dead"])
        #expect(try folders.gather(id, from: ["dead"]))
        #expect(try names(of: id, at: "own") == [".1-unpack", ".origin", "drop"])
        #expect(try folders.jobs(of: "dead").isEmpty)
        #expect(try folders.isDone("dead"))
        try folders.remove("dead")
        #expect(try folders.others().isEmpty)
    }

    @Test func withoutTheDropNothingIsTouched() throws {
        let id = ids.next()
        try leave(".origin", of: id, at: "dead")
        #expect(try !folders.gather(id, from: ["dead"]))
        #expect(try names(of: id, at: "dead") == [".origin"])
        #expect(try names(of: id, at: "own").isEmpty)
        // It went on from there, and what was left comes with it.
        try leave("drop", of: id, at: "between")
        #expect(try folders.gather(id, from: ["dead", "between"]))
        #expect(try names(of: id, at: "own") == [".origin", "drop"])
    }

    @Test func whatIsHereAlreadyStaysAndTheOtherIsKept() throws {
        let id = ids.next()
        try leave("drop", of: id, at: "own")
        try leave("drop", of: id, at: "dead")
        #expect(try folders.gather(id, from: ["dead"]))
        let kept = try ScratchFolder.read(work.folder(id).appending("drop"))
        #expect(String(decoding: kept, as: UTF8.self) == "drop of own")
        #expect(try Folder.names(in: work.astray).map(\.text) == [id.text])
        #expect(try names(of: id, at: "dead").isEmpty)
    }

    @Test func ofAJobThatMayBePublishedTheRestCounts() throws {
        let id = ids.next()
        try leave(".2-out", of: id, at: "dead")
        #expect(try folders.gatherRest(id, from: ["dead"]))
        #expect(try names(of: id, at: "own") == [".2-out"])
        #expect(try !folders.gatherRest(id, from: ["dead"]) && !folders.hasDrop(id))
        #expect(try folders.holders(among: ["dead", "other"]).isEmpty)
    }

    @Test func onlyWhatIsEmptyGoes() throws {
        let (first, second) = (ids.next(), ids.next())
        try leave("drop", of: first, at: "dead")
        try leave(".rest", of: second, at: "dead")
        #expect(try !folders.isDone("dead"))
        try folders.removeRest(of: first, at: "dead")
        #expect(try names(of: first, at: "dead") == ["drop"])
        try folders.removeRest(of: second, at: "dead")
        #expect(try folders.jobs(of: "dead") == [first])
    }

    @Test func pathsLeadToOwnFolders() throws {
        let id = ids.next()
        let drop = Drop(name: FileName(unchecked: Array("drop".utf8)), size: 1, droppedAt: .now())
        let old = nodes.appending("dead").appending("active").appending(id.text)
        let job = Job(id: id, pipeline: "a", drop: drop, claimedAt: .now(), folder: old)
        var record = JobRecord(claimed: job, identity: .unknown, definition: "d")
        let target = scratch.path("done/drop")
        record.intents = [
            Intent(role: .output, source: old.pushing("drop"), target: target, identity: .unknown)
        ]
        let here = try folders.rebased(record)
        #expect(here.intents.map(\.source) == [work.folder(id).pushing("drop")])
        #expect(here.intents.map(\.target) == [target])
        #expect(try folders.rebased(here) == here)
    }

    @Test func aShareIsKnownByItsToken() throws {
        let pipeline = Self.pipeline(scratch)
        let place = scratch.path(".dropmill/a")
        var recorded: String?
        func check(in work: FilePath) throws {
            try ShareToken.check(in: work, of: pipeline, patience: .milliseconds(1)) { proposed in
                recorded = recorded ?? proposed
                return recorded ?? ""
            }
        }
        try check(in: place)
        try check(in: place)
        let other = try scratch.makeFolder("other")
        let error = #expect(throws: FolderError.self) { try check(in: other) }
        #expect(error?.kind == .configuration && error?.message.contains("share.other") ?? false)
        // It is mounted late.
        try Folder.remove(other.appending("share"))
        try scratch.write(try #require(recorded), to: "other/share")
        try check(in: other)
    }

    @Test func foldersServeJobAfterJobWhereNoStageTellsOfOneWithoutARow() {
        let quick = Self.pipeline(scratch)
        var slow = quick
        slow.stages = [.fake { (payload, _) throws(Failure) in payload }]
        #expect(WorkFolder.keepsSlots(for: slow, isShared: false) && !WorkFolder.keepsSlots(for: slow, isShared: true))
        #expect(WorkFolder.keepsSlots(for: quick, isShared: true))
    }

    @Test func whatIsEmptyGoesBeforeAnybodyIsAskedOfIt() throws {
        let (used, free) = (ids.next(), ids.next())
        try leave("drop", of: used, at: "dead")
        try scratch.makeFolder(".dropmill/a/nodes/dead/active/\(free.text)")
        try folders.removeEmpty(of: "dead")
        #expect(try folders.jobs(of: "dead") == [used])
    }
}

import BuiltinStages
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct CopyStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "IMG_0042.JPG", Array("%PDF-1.7\n".utf8)) }

    @Test func copiesForSeveralFolders() throws {
        let payload = try fixture.run("copy", ["to": ["one/{stem}", "two"]])
        #expect(payload.isDrop)
        #expect(payload.destination == nil)
        #expect(
            payload.copies.map(\.destination) == [
                fixture.scratch.path("one/IMG_0042"), fixture.scratch.path("two"),
            ])
        for copy in payload.copies {
            #expect(!copy.isFolder)
            #expect(copy.path.lastName == fixture.job.drop.name)
            #expect(try ScratchFolder.read(copy.path) == Array("%PDF-1.7\n".utf8))
        }
    }

    @Test func namesOfOneFileStayNamesOfOneFile() throws {
        let payload = try fixture.folder(["a": "1"])
        #expect(link(payload.root.appending("a").string, payload.root.appending("b").string) == 0)
        let copied = try fixture.run("copy", ["to": "out"], on: payload)
        var status = stat()
        stat(try #require(copied.copies.first).path.appending("b").string, &status)
        #expect(status.st_nlink == 2)
    }

    @Test func aCopyIsThePayloadAsItWas() throws {
        let payload = try fixture.folder(["a": "1", "b/c": "2"])
        try fixture.scratch.makeFolder("job/.payload/empty")
        try fixture.scratch.link("job/.payload/link", to: "a")
        let copied = try fixture.run("copy", ["to": "out"], on: payload)
        try fixture.run("checksum", on: copied)
        let copy = try #require(copied.copies.first)
        #expect(copy.isFolder)
        let tree = try FileTree.list(copy.path)
        #expect(tree.files.map(\.relative) == ["a", "b/c"])
        #expect(Set(tree.folders) == ["b", "empty"])
        #expect(tree.links == ["link"])
    }
}

extension CopyStage: ContractSubject {
    static var contract: StageContract { StageContract(options: ["to": "out/{stem}"]) }
}

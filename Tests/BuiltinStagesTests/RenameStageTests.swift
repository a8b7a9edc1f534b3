import BuiltinStages
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct RenameStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "IMG_0042.JPG", Array("%PDF-1.7\n".utf8)) }

    @Test func aDropWithAnotherNameIsTheDropStill() throws {
        let options: Options = ["match": "^IMG_0*([0-9]+)", "to": "{date:%Y}-{drop}-photo {1}.{ext}"]
        let payload = try fixture.run("rename", options)
        #expect(payload.shape == .file(try #require(FileName("2023-IMG_0042-photo 42.JPG"))))
        #expect(payload.isDrop)
        #expect(try ScratchFolder.read(payload.path) == Array("%PDF-1.7\n".utf8))
        #expect(Folder.kind(of: fixture.job.original) == .regular)
        #expect(try fixture.run("rename", ["match": "^DSC", "to": "x"]) == fixture.payload)
        #expect(try fixture.failure("rename", ["to": "{date:%Y/%m}/{name}"]).code == "rename.folder")
    }

    @Test func filesOfAFolder() throws {
        let payload = try fixture.folder(["a.txt": "1", "b/c.txt": "2", "b/d.csv": "3"])
        try fixture.scratch.link("job/.payload/link", to: "a.txt")
        let renamed = try fixture.run("rename", ["match": "txt$", "to": "{stem}.text"], on: payload)
        #expect(try fixture.names(renamed) == ["a.text", "b/c.text", "b/d.csv"])
        #expect(try fixture.names(payload) == ["a.txt", "b/c.txt", "b/d.csv"])
        #expect(Folder.kind(of: renamed.root.appending("link")) == .symbolicLink)
    }

    @Test func namesThatMeet() throws {
        let payload = try fixture.folder(["a.txt": "1", "b.txt": "2"])
        let failure = try fixture.failure("rename", ["to": "same.{ext}"], on: payload)
        #expect(failure.summary == "'a.txt' and 'b.txt' would both be named 'same.txt'.")
        // A file cannot have the name of a folder of others, or of a link's.
        for (files, link) in [(["a.txt", "a/inner.txt"], nil), (["a.txt", "b.txt"], "a/link")] as [([String], String?)]
        {
            let fixture = try StageFixture(drop: "x", [1])
            let payload = try fixture.folderPayload(files.map { (Array($0.utf8), "x") })
            if let link {
                try fixture.scratch.makeFolder("job/.payload/a")
                try fixture.scratch.link("job/.payload/\(link)", to: "b.txt")
            }
            let failure = try fixture.failure("rename", ["to": "{stem}"], on: payload)
            #expect(failure.class == .file)
            #expect(failure.code == "rename.taken")
        }
        // Names that change places do not meet.
        let swap = try fixture.folderPayload([(Array("1".utf8), "x"), (Array("11".utf8), "y")])
        try Folder.remove(swap.root.appending("a.txt"))
        try Folder.remove(swap.root.appending("b.txt"))
        #expect(try fixture.names(fixture.run("rename", ["match": "^1$", "to": "111"], on: swap)) == ["11", "111"])
    }

    @Test(
        arguments: [
            ["to": "../{name}"], ["to": "/x"], ["to": "{1}"], ["to": "x", "match": "("], [:],
            ["to": "{nome}", "match": "x"], ["to": "{2}", "match": "(x)"],
        ] as [Options])
    func wrongNames(options: Options) throws {
        #expect(throws: OptionProblem.self) { try fixture.stage("rename", options) }
    }

    @Test func namesThatAreTooLong() throws {
        let long = String(repeating: "x", count: 250)
        #expect(try fixture.failure("rename", ["to": "\(long){name}"]).code == "rename.name")
    }
}

extension RenameStage: ContractSubject {
    static var contract: StageContract { StageContract(options: ["to": "x-{name}"]) }
}

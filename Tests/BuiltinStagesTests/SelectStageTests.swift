import BuiltinStages
import Files
import Glibc
import PipelineKit
import TestSupport
import Testing

@Suite struct SelectStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "IMG_0042.JPG", Array("%PDF-1.7\n".utf8)) }

    @Test(
        arguments: [
            (["keep": "*.jpg"], ["b.jpg", "x/c.jpg"]), (["drop": "*.jpg"], ["a.txt", "x/y/d"]),
            (["keep": "x/*"], ["x/c.jpg", "x/y/d"]), (["keep": ["*.jpg", "d"], "drop": "x/c*"], ["b.jpg", "x/y/d"]),
            (["larger": "2"], ["a.txt"]), (["smaller": "2"], ["b.jpg", "x/y/d"]),
            (["type": "application/pdf"], ["a.txt"]), ([:], ["a.txt", "b.jpg", "x/c.jpg", "x/y/d"]),
        ] as [(Options, [String])])
    func filesAreChosen(options: Options, left: [String]) throws {
        let payload = try fixture.folder(["a.txt": "%PDF-1.7\n", "b.jpg": "1", "x/c.jpg": "12", "x/y/d": ""])
        #expect(try fixture.names(fixture.run("select", options, on: payload)) == left)
        #expect(try fixture.names(payload).count == 4, "the payload itself stays as it is")
    }

    /// They are judged by their names, and what is left out is told; the payload itself stays as it is.
    @Test(
        arguments: [
            (["drop": "a.tmp"], ["b.jpg", "hollow/", "in/", "in/c", "link.jpg -> b.jpg"], "1 files"),
            (["drop": ["link*", "hollow"]], ["a.tmp", "b.jpg", "in/", "in/c"], "1 symbolic links, 1 empty folders"),
            (["keep": "*.jpg"], ["b.jpg", "link.jpg -> b.jpg"], "2 files, 1 empty folders"),
            (["larger": "1"], ["b.jpg", "in/", "in/c"], "1 files, 1 symbolic links, 1 empty folders"),
            (["type": "text/*"], ["in/", "in/c"], "2 files, 1 symbolic links, 1 empty folders"),
            (["drop": "none"], ["a.tmp", "b.jpg", "hollow/", "in/", "in/c", "link.jpg -> b.jpg"], nil),
        ] as [(Options, [String], String?)])
    func linksAndEmptyFolders(options: Options, left: [String], less: String?) throws {
        let payload = try fixture.folder(["a.tmp": "\u{1}", "b.jpg": "\u{1}\u{2}", "in/c": "text"])
        try fixture.scratch.makeFolder("job/.payload/hollow")
        try fixture.scratch.link("job/.payload/link.jpg", to: "b.jpg")
        let before = try fixture.scratch.tree("job/.payload")
        let notes = StageNotes()
        let selected = try fixture.run("select", options, on: payload, notes: notes)
        let root = try Folder.open(selected.root)
        let tree = try FileTree.list(root)
        var links: [String] = []
        for link in tree.links { links.append("\(link.text) -> \(try root.target(ofLink: link)?.text ?? "")") }
        #expect((tree.files.map(\.relative.text) + tree.folders.map { $0.text + "/" } + links).sorted() == left)
        #expect(notes.text == less.map { "removed: \($0)" })
        #expect(try fixture.scratch.tree("job/.payload") == before)
    }

    @Test func nothingIsLeft() throws {
        let failure = try fixture.failure("select", ["keep": "*.txt"])
        #expect(failure.code == "select.nothing")
        let payload = try fixture.run("select", ["keep": "*.txt", "require": "false"])
        #expect(payload.isDone)
        #expect(!(try fixture.run("select", ["keep": "*.JPG"]).isDone))
    }
}

extension SelectStage: ContractSubject {
    static var contract: StageContract {
        StageContract(
            options: ["drop": "none", "require": "false"],
            prepare: { fixture, _ in try fixture.scratch.write("", to: "job/.payload/none") })
    }
}

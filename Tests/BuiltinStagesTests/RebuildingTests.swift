import BuiltinStages
import SystemPackage
import TestSupport
import Testing

/// What stages have in common that make a new payload of the old one's files.
@Suite struct RebuildingTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "IMG_0042.JPG", Array("%PDF-1.7\n".utf8)) }

    /// What nobody else could look into stays so, in whatever is made of it.
    @Test(
        arguments: [
            ("copy", ["to": "out"], "a/b"), ("select", ["keep": "x"], "a/b"), ("rename", ["to": "n-{name}"], "a/b"),
            ("rename", ["to": "new/{name}"], "a/b/new"), ("bag", [:], "data/a/b"),
        ] as [(String, Options, FilePath)])
    func foldersKeepTheirRights(kind: String, options: Options, deepest: FilePath) throws {
        let payload = try fixture.folder(["a/b/x": "1", "y": "2"])
        let rights = FolderRights(mode: 0o700, modified: 1_000_000_000)
        for folder in ["a/b", "a", ""] as [FilePath] { try rights.set(payload.root.pushing(folder)) }
        let made = try fixture.run(kind, options, on: payload)
        var folder = deepest
        let root = made.copies.first?.path ?? made.root
        #expect(root != payload.root)
        while true {
            #expect(try FolderRights.of(root.pushing(folder)) == rights, "\(folder)")
            if folder.isEmpty { break }
            folder.removeLastComponent()
        }
    }
}

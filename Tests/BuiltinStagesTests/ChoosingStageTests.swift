import BuiltinStages
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// The stages that look at files and choose: `detect`, `select`, `rename`, `copy`, `dedupe`.
@Suite struct ChoosingStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "IMG_0042.JPG", Array("%PDF-1.7\n".utf8)) }

    private func payload(_ files: KeyValuePairs<String, String>) throws -> Payload {
        try fixture.folderPayload(files.map { (Array($0.utf8), $1) })
    }

    private func names(_ payload: Payload) throws -> [String] { try payload.files().map(\.relative.string) }

    // MARK: detect

    @Test func theContentCountsNotTheName() throws {
        let payload = try fixture.run("detect", ["only": ["image/*", "application/pdf"]])
        #expect(payload.facts == ["type": "application/pdf", "encoding": "us-ascii"])
        #expect(payload.isDrop)
        let failure = try fixture.failure("detect", ["only": "image/*"])
        #expect(
            failure.summary == "'IMG_0042.JPG' is application/pdf by its content, which is not taken here.")
        #expect(failure.class == .file)
        #expect(try fixture.failure("detect", ["never": "application/*"]).code == "detect.type")
    }

    @Test func ofAFolderEveryFileIsLookedAt() throws {
        let payload = try payload(["a": "%PDF-1.7\n", "b/c": "text", "d": ""])
        #expect(try fixture.run("detect", on: payload) == payload)
        let failure = try fixture.failure("detect", ["only": ["application/pdf", "inode/x-empty"]], on: payload)
        #expect(failure.summary.hasPrefix("'b/c' of 'IMG_0042.JPG' is text/plain"))
    }

    /// Each of these tags says that something else follows, which libmagic then looks at in the same way.
    @Test(arguments: [(2, nil), (30, "detect.limit"), (1000, "detect.limit")] as [(Int, String?)])
    func aFileThatIsHardToLookAtHoldsUpNoOther(tags: Int, code: String?) throws {
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0]
        let fixture = try StageFixture(drop: "song.mp3", Array(repeating: tag, count: tags).flatMap { $0 })
        guard let code else {
            #expect(try fixture.run("detect").facts["type"] == "application/octet-stream")
            return
        }
        for kind in ["detect", "select"] {
            let failure = try fixture.failure(kind, kind == "select" ? ["type": "audio/*"] : [:])
            #expect(failure.class == .file)
            #expect(failure.code == code)
            #expect(failure.summary.hasPrefix("The type of 'song.mp3' cannot be told: indirect"))
        }
        // What holds the rules is none the worse.
        #expect(try self.fixture.run("detect").facts["type"] == "application/pdf")
    }

    // MARK: select

    @Test(
        arguments: [
            (["keep": "*.jpg"], ["b.jpg", "x/c.jpg"]), (["drop": "*.jpg"], ["a.txt", "x/y/d"]),
            (["keep": "x/*"], ["x/c.jpg", "x/y/d"]), (["keep": ["*.jpg", "d"], "drop": "x/c*"], ["b.jpg", "x/y/d"]),
            (["larger": "2"], ["a.txt"]), (["smaller": "2"], ["b.jpg", "x/y/d"]),
            (["type": "application/pdf"], ["a.txt"]), ([:], ["a.txt", "b.jpg", "x/c.jpg", "x/y/d"]),
        ] as [(Options, [String])])
    func filesAreChosen(options: Options, left: [String]) throws {
        let payload = try payload(["a.txt": "%PDF-1.7\n", "b.jpg": "1", "x/c.jpg": "12", "x/y/d": ""])
        #expect(try names(fixture.run("select", options, on: payload)) == left)
        #expect(try names(payload).count == 4, "the payload itself stays as it is")
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
        let payload = try payload(["a.tmp": "\u{1}", "b.jpg": "\u{1}\u{2}", "in/c": "text"])
        try fixture.scratch.makeFolder("payload/hollow")
        try fixture.scratch.link("payload/link.jpg", to: "b.jpg")
        let before = try fixture.scratch.tree("payload")
        let notes = StageNotes()
        let selected = try fixture.run("select", options, on: payload, notes: notes)
        let tree = try FileTree.list(selected.root)
        let links = try tree.links.map { "\($0.text) -> \(try Transfer.target(of: selected.root.pushing($0)).text)" }
        #expect((tree.files.map(\.relative.text) + tree.folders.map { $0.text + "/" } + links).sorted() == left)
        #expect(notes.text == less.map { "left out: \($0)" })
        #expect(try fixture.scratch.tree("payload") == before)
    }

    @Test func nothingIsLeft() throws {
        let failure = try fixture.failure("select", ["keep": "*.txt"])
        #expect(failure.code == "select.nothing")
        let payload = try fixture.run("select", ["keep": "*.txt", "require": "false"])
        #expect(payload.isDone)
        #expect(!(try fixture.run("select", ["keep": "*.JPG"]).isDone))
    }

    // MARK: rename

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
        let payload = try payload(["a.txt": "1", "b/c.txt": "2", "b/d.csv": "3"])
        try fixture.scratch.link("payload/link", to: "a.txt")
        let renamed = try fixture.run("rename", ["match": "txt$", "to": "{stem}.text"], on: payload)
        #expect(try names(renamed) == ["a.text", "b/c.text", "b/d.csv"])
        #expect(try names(payload) == ["a.txt", "b/c.txt", "b/d.csv"])
        #expect(Folder.kind(of: renamed.root.appending("link")) == .symbolicLink)
    }

    @Test func namesThatMeet() throws {
        let payload = try payload(["a.txt": "1", "b.txt": "2"])
        let failure = try fixture.failure("rename", ["to": "same.{ext}"], on: payload)
        #expect(failure.summary == "'a.txt' and 'b.txt' would both be called 'same.txt'.")
        // A file cannot have the name of a folder of others, or of a link's.
        for (files, link) in [(["a.txt", "a/inner.txt"], nil), (["a.txt", "b.txt"], "a/link")] as [([String], String?)]
        {
            let fixture = try StageFixture(drop: "x", [1])
            let payload = try fixture.folderPayload(files.map { (Array($0.utf8), "x") })
            if let link {
                try fixture.scratch.makeFolder("payload/a")
                try fixture.scratch.link("payload/\(link)", to: "b.txt")
            }
            let failure = try fixture.failure("rename", ["to": "{stem}"], on: payload)
            #expect(failure.class == .file)
            #expect(failure.code == "rename.taken")
        }
        // Names that change places do not meet.
        let swap = try fixture.folderPayload([(Array("1".utf8), "x"), (Array("11".utf8), "y")])
        try Folder.remove(swap.root.appending("a.txt"))
        try Folder.remove(swap.root.appending("b.txt"))
        #expect(try names(fixture.run("rename", ["match": "^1$", "to": "111"], on: swap)) == ["11", "111"])
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

    // MARK: copy

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

    /// What was private stays so.
    @Test(
        arguments: [("copy", ["to": "out"]), ("rename", ["to": "x-{name}"]), ("select", ["drop": "d"])]
            as [(String, Options)])
    func foldersKeepTheirModesAndTimes(kind: String, options: Options) throws {
        let payload = try payload(["private/a": "1", "private/in/b": "2", "d": ""])
        let folder = payload.root.appending("private")
        chmod(folder.string, 0o700)
        let times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
        utimensat(AT_FDCWD, folder.string, times, 0)
        let made = try fixture.run(kind, options, on: payload)
        var status = stat()
        stat((made.copies.first?.path ?? made.root).appending("private").string, &status)
        #expect(status.st_mode & 0o777 == 0o700)
        #expect(status.st_mtim.tv_sec == 1_000_000_000)
    }

    @Test func namesOfOneFileStayNamesOfOneFile() throws {
        let payload = try payload(["a": "1"])
        #expect(link(payload.root.appending("a").string, payload.root.appending("b").string) == 0)
        let copied = try fixture.run("copy", ["to": "out"], on: payload)
        var status = stat()
        stat(try #require(copied.copies.first).path.appending("b").string, &status)
        #expect(status.st_nlink == 2)
    }

    @Test func aCopyIsThePayloadAsItWas() throws {
        let payload = try payload(["a": "1", "b/c": "2"])
        try fixture.scratch.makeFolder("payload/empty")
        try fixture.scratch.link("payload/link", to: "a")
        let copied = try fixture.run("copy", ["to": "out"], on: payload)
        try fixture.run("checksum", on: copied)
        let copy = try #require(copied.copies.first)
        #expect(copy.isFolder)
        let tree = try FileTree.list(copy.path)
        #expect(tree.files.map(\.relative) == ["a", "b/c"])
        #expect(Set(tree.folders) == ["b", "empty"])
        #expect(tree.links == ["link"])
    }

    // MARK: The rights of folders

    /// What nobody else could look into stays so, in whatever is made of it.
    @Test(
        arguments: [
            ("copy", ["to": "out"], "a/b"), ("select", ["keep": "x"], "a/b"), ("rename", ["to": "n-{name}"], "a/b"),
            ("rename", ["to": "new/{name}"], "a/b/new"), ("bag", [:], "data/a/b"),
        ] as [(String, Options, FilePath)])
    func foldersKeepTheirRights(kind: String, options: Options, deepest: FilePath) throws {
        let payload = try payload(["a/b/x": "1", "y": "2"])
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

    // MARK: dedupe

    /// Remembers as the journal does.
    private final class Memory: SeenContent {
        let queries = Mutex<[SeenQuery]>([])
        let first = JobIDGenerator().next(at: .now())
        /// How often it says that the first job is not over.
        let unfinished: Mutex<Int>
        let failsInTheEnd: Bool

        init(unfinished: Int = 0, failsInTheEnd: Bool = false) {
            self.unfinished = Mutex(unfinished)
            self.failsInTheEnd = failsInTheEnd
        }

        func first(_ content: SeenQuery) throws(StageFailure) -> SeenJob? {
            let isKnown = queries.withLock { queries in
                defer { queries.append(content) }
                return queries.contains { $0.content == content.content }
            }
            guard isKnown else { return nil }
            let left = unfinished.withLock { left in
                left -= 1
                return left
            }
            return left < 0 && failsInTheEnd ? nil : SeenJob(first, isOver: left < 0)
        }
    }

    @Test(arguments: ["skip", "continue", "fail"])
    func contentThatCameBefore(seen: String) throws {
        let memory = Memory()
        let options: Options = ["seen": .text(seen), "window": "1h"]
        let payload = try fixture.run("dedupe", options, seen: memory)
        #expect(!payload.isDone)
        let digest = try #require(payload.digests["sha256"])
        #expect(memory.queries.withLock { $0.map(\.content) } == ["sha256:\(digest)"])
        #expect(
            memory.queries.withLock { $0.first?.since } == Timestamp(seconds: 1_700_000_000 - 3600, nanoseconds: 0))
        let notes = StageNotes()
        if seen == "fail" {
            let failure = #expect(throws: StageFailure.self) { try fixture.run("dedupe", options, seen: memory) }
            #expect(failure?.summary.contains(memory.first.text) == true)
            return
        }
        let again = try fixture.run("dedupe", options, notes: notes, seen: memory)
        #expect(again.isDone == (seen == "skip"))
        #expect(notes.text?.contains("the same content as job \(memory.first)") == true)
    }

    /// What came first may fail yet; then what came second is the first.
    @Test(arguments: [true, false])
    func nothingIsSkippedBeforeTheFirstIsOver(failsInTheEnd: Bool) throws {
        let memory = Memory(unfinished: 3, failsInTheEnd: failsInTheEnd)
        try fixture.run("dedupe", seen: memory)
        #expect(try fixture.run("dedupe", seen: memory).isDone != failsInTheEnd)
        #expect(memory.queries.withLock { $0.count } == 5)
    }

    @Test func foldersAreKnownByTheirFilesToo() throws {
        let memory = Memory()
        let payload = try payload(["a": "1", "b": "2"])
        #expect(!(try fixture.run("dedupe", on: payload, seen: memory).isDone))
        #expect(try fixture.run("dedupe", on: payload, seen: memory).isDone)
        try fixture.scratch.write("3", to: "payload/b")
        #expect(!(try fixture.run("dedupe", on: payload, seen: memory).isDone))
    }
}

import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct FolderTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func listsNamesAsBytes() throws {
        let names = try [[0x56, 0xED], [0x0A], Array("-rf".utf8), [UInt8](repeating: 0x78, count: 255)]
            .map { try #require(FileName($0)) }
        for name in names { try scratch.write([], to: scratch.path(name)) }
        #expect(try Folder.names(in: scratch.path).sorted() == names.sorted())
        #expect(try FileTree.list(scratch.path).files.map(\.bytes) == names.sorted().map(\.bytes))
    }

    @Test func listsAnOpenFolderAgain() throws {
        try scratch.write("", to: "a")
        let folder = try OpenFile.openFolder(scratch.path)
        for _ in 0..<2 {
            var names: [FileName] = []
            try Folder.forEachEntry(of: folder) { (name, _) throws(IOError) in names.append(name) }
            #expect(names.map(\.text) == ["a"])
        }
    }

    @Test func listingAFileFailsAndLeavesNothingOpen() throws {
        let file = try scratch.write("", to: "a")
        let open = try OpenFile.open(file, O_RDONLY)
        let before = try Folder.names(in: "/proc/self/fd").count
        for _ in 0..<50 {
            #expect(throws: IOError("list", file, .notDirectory)) {
                try Folder.forEachEntry(of: open) { (_, _) throws(IOError) in }
            }
        }
        // Other tests run beside this one and open files of their own, but not fifty.
        #expect(try Folder.names(in: "/proc/self/fd").count < before + 40)
    }

    @Test func aWayDownFollowsNoLink() throws {
        try scratch.write("x", to: "top/a/b/file")
        try scratch.write("y", to: "elsewhere/b/file")
        try scratch.link("top/link", to: "../elsewhere")
        try scratch.link("top/a/b/last", to: "file")
        let top = try OpenFile.openFolder(scratch.path("top"))
        #expect(try OpenFile.open("a/b/file", below: top, O_RDONLY).status().st_size == 1)
        #expect(try Folder.names(in: OpenFile.openFolder("", below: top)).map(\.text).sorted() == ["a", "link"])
        for path in ["link/b/file", "a/b/last", "../elsewhere/b/file", "a/b/none"] as [FilePath] {
            #expect(throws: IOError.self, "\(path)") { _ = try OpenFile.open(path, below: top, O_RDONLY) }
        }
    }

    @Test func makesWhatIsMissing() throws {
        #expect(try Folder.make(scratch.path("a/b/c")))
        #expect(try !Folder.make(scratch.path("a/b/c")))
        #expect(Folder.kind(of: scratch.path("a/b/c")) == .folder)
        try scratch.link("link", to: "a")
        #expect(try !Folder.make(scratch.path("link")))
        try scratch.write("", to: "file")
        #expect(throws: IOError("create the folder", scratch.path("file"), .notDirectory)) {
            try Folder.make(scratch.path("file"))
        }
        #expect(throws: IOError.self) { try Folder.make(scratch.path("file/below")) }
    }

    @Test func makesClean() throws {
        try scratch.write("old", to: "a/b/c")
        let folder = try Folder.open(scratch.path)
        try folder.makeClean("a", mode: 0o700)
        #expect(try scratch.tree() == ["a/"])
        try scratch.write("old", to: "file")
        try folder.makeClean("file", mode: 0o700)
        #expect(Folder.kind(of: scratch.path("file")) == .folder)
        #expect(throws: IOError.self) { try folder.makeClean("no/such", mode: 0o700) }
    }

    @Test("Nothing below a folder is reached through a symbolic link, on the way or at the end")
    func staysBelow() throws {
        try scratch.write("secret", to: "outside/file")
        try scratch.makeFolder("top/real")
        try scratch.link("top/link", to: "../outside")
        try scratch.link("top/leaf", to: "../outside/file")
        let top = try Folder.open(scratch.path("top"))
        for path in ["link/file", "leaf", "../outside/file", "real/../../outside/file"] as [FilePath] {
            #expect(throws: IOError.self) { try top.open(path, O_RDONLY).close() }
        }
        #expect(throws: IOError.self) { _ = try top.folder("link") }
        #expect(throws: IOError.self) { try top.make("link/made") }
        #expect(throws: IOError.self) { try top.remove("link/file") }
        #expect(throws: IOError.self) { try top.rename("leaf", over: "link/file") }
        #expect(throws: IOError.self) { try top.link("leaf", as: "link/other", in: top) }
        #expect(throws: IOError.self) { try Transfer.copy("link/file", in: top, to: "copy", in: top) }
        #expect(try top.kind(of: "leaf") == .symbolicLink)
        #expect(
            try scratch.tree() == [
                "outside/", "outside/file", "top/", "top/leaf -> ../outside/file", "top/link -> ../outside",
                "top/real/",
            ])
    }

    @Test func removesTreesAndWhatIsNotThere() throws {
        try scratch.write("", to: "t/a/b/c")
        try scratch.write([], to: scratch.path("t").appending(try #require(FileName([0xED]))))
        try scratch.write("", to: "keep/file")
        try scratch.link("t/out", to: "../keep")
        try scratch.link("t/dangling", to: "nowhere")
        try Folder.remove(scratch.path("t"))
        try Folder.remove(scratch.path("t"))
        #expect(try scratch.tree() == ["keep/", "keep/file"])
    }

    @Test func removesFoldersWithoutRights() throws {
        for name in ["t/none/x", "t/readonly/x", "t/blind/x"] { try scratch.write("", to: name) }
        for (name, mode) in [("none", 0o000), ("readonly", 0o500), ("blind", 0o300)] as [(String, mode_t)] {
            _ = scratch.path("t/" + name).withPlatformString { chmod($0, mode) }
        }
        try Folder.remove(scratch.path("t"))
        #expect(try scratch.tree() == [])
    }

    @Test func removingALinkLeavesItsTarget() throws {
        try scratch.write("", to: "keep/file")
        _ = scratch.path("keep").withPlatformString { chmod($0, 0o750) }
        try scratch.link("link", to: "keep")
        try Folder.remove(scratch.path("link"))
        #expect(try scratch.tree() == ["keep/", "keep/file"])
        #expect(try OpenFile.openFolder(scratch.path("keep")).status().st_mode & 0o777 == 0o750)
    }

    @Test func removesDeepTrees() throws {
        let deep = (0..<100).map { _ in "d" }.joined(separator: "/")
        try scratch.makeFolder("t/" + deep)
        try Folder.remove(scratch.path("t"))
        #expect(!scratch.exists("t"))
    }

    @Test func removesTreesDeeperThanPathsAreLong() throws {
        let name = String(repeating: "n", count: 200)
        var folder = try OpenFile.openFolder(try scratch.makeFolder("t"))
        for _ in 0..<60 {
            #expect(mkdirat(folder.descriptor, name, 0o700) == 0)
            let file = openat(folder.descriptor, ".lifted-1", O_WRONLY | O_CREAT, 0o600)
            #expect(file >= 0 && close(file) == 0)
            folder = try OpenFile.openFolder(FilePath(name), below: folder)
        }
        try Folder.remove(scratch.path("t"))
        #expect(!scratch.exists("t"))
    }

    @Test func tellsKinds() throws {
        try scratch.write("", to: "file")
        try scratch.link("link", to: "file")
        try scratch.link("dangling", to: "nowhere")
        _ = scratch.path("fifo").withPlatformString { mkfifo($0, 0o600) }
        #expect(Folder.kind(of: scratch.path) == .folder)
        #expect(Folder.kind(of: scratch.path("file")) == .regular)
        #expect(Folder.kind(of: scratch.path("link")) == .symbolicLink)
        #expect(Folder.kind(of: scratch.path("link"), followingLinks: true) == .regular)
        #expect(Folder.kind(of: scratch.path("dangling")) == .symbolicLink)
        #expect(Folder.kind(of: scratch.path("dangling"), followingLinks: true) == nil)
        #expect(Folder.kind(of: scratch.path("fifo")) == .special)
        #expect(Folder.kind(of: scratch.path("nothing")) == nil)
    }

    @Test func treesNeverFollowLinks() throws {
        try scratch.write("", to: "t/a/b")
        try scratch.write("", to: "outside/secret")
        try scratch.link("t/a/out", to: "../../outside")
        try scratch.link("t/self", to: ".")
        _ = scratch.path("t/fifo").withPlatformString { mkfifo($0, 0o600) }
        let tree = try FileTree.list(scratch.path("t"))
        #expect(tree.files.map(\.relative) == ["a/b"])
        #expect(tree.folders == ["a"])
        #expect(Set(tree.links) == ["a/out", "self"])
        try scratch.link("top", to: "t")
        #expect(throws: IOError.self) { try FileTree.list(scratch.path("top")) }
    }

    @Test func foldersComeBeforeWhatTheyHold() throws {
        try scratch.makeFolder("a/b/c")
        try scratch.makeFolder("d/e")
        let folders = try FileTree.list(scratch.path).folders
        for folder in folders where folder.components.count > 1 {
            let parent = try #require(folders.firstIndex(of: folder.removingLastComponent()))
            #expect(parent < folders.firstIndex(of: folder) ?? 0)
        }
        #expect(folders.count == 5)
    }
}

@Suite struct OpenFileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func writesReadsAndCloses() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try OpenFile.open(scratch.path("a"), O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try file.write(bytes)
        try file.write([])
        try file.sync()
        #expect(try file.status().st_size == 200_000)
        #expect(fcntl(file.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        try file.close()
        #expect(try scratch.read("a") == bytes)
    }

    @Test func errorsNameActionPathAndReason() throws {
        let path = scratch.path("a\nb")
        let error = #expect(throws: IOError("open", path, .noSuchFileOrDirectory)) {
            _ = try OpenFile.open(path, O_RDONLY)
        }
        #expect(error?.description == "cannot open '\(scratch.path.text)/a\\nb': No such file or directory")
        try scratch.write("", to: "there")
        #expect(throws: IOError("create", scratch.path("there"), .fileExists)) {
            _ = try OpenFile.open(scratch.path("there"), O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        }
    }

    @Test func entriesAndFoldersAreNotOpenedThroughLinks() throws {
        try scratch.write("x", to: "d/file")
        try scratch.link("d/link", to: "file")
        try scratch.link("linked", to: "d")
        let folder = try OpenFile.openFolder(scratch.path("d"))
        let file = try OpenFile.open(try #require(FileName("file")), in: folder, O_RDONLY)
        #expect(file.path == scratch.path("d/file"))
        let link = try #require(FileName("link"))
        #expect(throws: IOError.self) { _ = try OpenFile.open(link, in: folder, O_RDONLY) }
        #expect(throws: IOError.self) { _ = try OpenFile.openFolder(scratch.path("linked")) }
    }

    @Test func pathsAreBytes() throws {
        let path = FilePath(bytes: [0x2F, 0x61, 0x2F, 0xED])
        #expect(path.bytes == [0x2F, 0x61, 0x2F, 0xED])
        #expect(path.text == "/a/\\xED")
        #expect(path.lastName?.bytes == [0xED])
        #expect(FilePath("/").lastName == nil)
        #expect(FilePath("/a").appending(try #require(FileName([0xFF]))).bytes == [0x2F, 0x61, 0x2F, 0xFF])
    }
}

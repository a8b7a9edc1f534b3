import Platform
import SystemPackage
import TestTools
import Testing

@testable import Files

@Suite("Trust in folders") struct FolderTrustTests {
    private let scratch: ScratchFolder
    private static let nobody: uid_t = 65534

    init() throws { scratch = try ScratchFolder() }

    private func change(_ relative: String, mode: mode_t? = nil, owner: uid_t? = nil) {
        let path = scratch.path(relative)
        if let owner { #expect(path.withPlatformString { lchown($0, owner, owner) } == 0) }
        if let mode { #expect(path.withPlatformString { chmod($0, mode) } == 0) }
    }

    private func faults(_ relative: String, accepting: [String] = []) -> [String] {
        FolderTrust(accepting: accepting.map { scratch.path($0) }).way(to: scratch.path(relative)).faults.map {
            var path = $0.path
            _ = path.removePrefix(scratch.path)
            return "\(path.string) \($0.reason)"
        }
    }

    /// Kind, owner, mode, and what is wrong for the user 1000.
    @Test(
        "The rule of sshd's StrictModes",
        arguments: [
            (FileKind.folder, 0, 0o755, nil), (.folder, 1000, 0o700, nil), (.folder, 1000, 0o750, nil),
            (.folder, 0, 0o1777, nil), (.folder, 0, 0o3775, nil), (.folder, 0, 0o2775, .writable),
            (.folder, 1000, 0o775, .writable), (.folder, 0, 0o757, .writable), (.folder, 1000, 0o722, .writable),
            (.folder, 1001, 0o755, .owner), (.folder, 1001, 0o700, .owner), (.folder, 1001, 0o1777, .owner),
            (.symbolicLink, 0, 0o777, nil), (.symbolicLink, 1000, 0o777, nil), (.symbolicLink, 1001, 0o777, .owner),
        ] as [(FileKind, Int, Int, FolderTrust.Fault.Reason?)])
    func rule(kind: FileKind, owner: Int, mode: Int, reason: FolderTrust.Fault.Reason?) {
        #expect(FolderTrust.reason(kind: kind, owner: UInt32(owner), mode: UInt32(mode), for: 1000) == reason)
    }

    @Test("Folders of ours below a sticky one are well, also where the end is missing")
    func well() throws {
        try scratch.makeFolder("a/b")
        #expect(faults("a/b") == [])
        let way = FolderTrust().way(to: scratch.path("a/b/c/d"))
        #expect(way == FolderTrust.Way(isMissing: true))
    }

    @Test(
        "Each folder that others may write to is told, unless it is accepted, or sticky and on the way"
    )
    func writable() throws {
        try scratch.makeFolder("a/b/c")
        change("a", mode: 0o775)
        change("a/b", mode: 0o1777)
        change("a/b/c", mode: 0o757)
        #expect(faults("a/b/c") == ["a writable", "a/b/c writable"])
        #expect(faults("a/b/c", accepting: ["a"]) == ["a/b/c writable"])
        #expect(faults("a/b/c", accepting: ["a", "a/b/c"]) == [])
        #expect(faults("a/b") == ["a writable", "a/b writable"], "others may make a link in it before us")
        #expect(faults("a/b", accepting: ["a", "a/b"]) == [])
    }

    @Test("A missing folder in a sticky one can be made by anybody first")
    func forestalled() throws {
        try scratch.makeFolder("a/b")
        change("a", mode: 0o1777)
        #expect(FolderTrust().way(to: scratch.path("a/c/d")).mayBeForestalled)
        #expect(!FolderTrust().way(to: scratch.path("a/b")).mayBeForestalled)
        #expect(!FolderTrust().way(to: scratch.path("a/b/c")).mayBeForestalled)
    }

    @Test("Links are followed, relative and absolute and upwards, and the folders behind them count")
    func links() throws {
        try scratch.makeFolder("real/deep")
        try scratch.makeFolder("open/below")
        change("open", mode: 0o777)
        try scratch.link("relative", to: "real")
        try scratch.link("absolute", to: scratch.path("open").string)
        try scratch.link("real/up", to: "../open/below")
        try scratch.link("loop", to: "loop")
        #expect(faults("relative/deep") == [])
        #expect(faults("absolute/below") == ["open writable"])
        #expect(faults("relative/up") == ["open writable"])
        #expect(faults("relative/up/../../real") == ["open writable"])
        #expect(FolderTrust().way(to: scratch.path("loop/x")).trouble?.errno == .tooManySymbolicLinkLevels)
        #expect(FolderTrust().way(to: scratch.path("nothing/x")).isMissing)
    }

    @Test(
        "Folders and links of somebody else are told, and what was accepted is not",
        .enabled(if: geteuid() == 0, "needs root"))
    func strangers() throws {
        try scratch.makeFolder("theirs/mine")
        try scratch.makeFolder("mine")
        change("theirs", owner: Self.nobody)
        try scratch.link("link", to: "mine")
        change("link", owner: Self.nobody)
        #expect(faults("theirs/mine") == ["theirs owner"])
        #expect(faults("link") == ["link owner"])
        #expect(faults("link", accepting: ["link"]) == [])
        #expect(faults("theirs", accepting: ["theirs"]) == [])
        #expect(FolderTrust(as: Self.nobody).way(to: scratch.path("theirs")).faults == [])
    }

    @Test("Links of root and of ours are followed to the folder, also to open it")
    func opens() throws {
        let deep = FileIdentity.of(try scratch.makeFolder("real/deep"))
        try scratch.write("", to: "file")
        try scratch.link("relative", to: "real")
        try scratch.link("absolute", to: scratch.path("relative").string)
        try scratch.link("real/up", to: "../absolute/deep")
        try scratch.link("dangling", to: "nowhere")
        for path in ["real/deep", "relative/deep", "absolute/deep", "real/up", "relative/up/../../absolute/./deep"] {
            #expect(FileIdentity(try FolderTrust().open(scratch.path(path)).status()) == deep, "\(path)")
        }
        for (path, errno) in [("dangling", .noSuchFileOrDirectory), ("file", .notDirectory), ("file/x", .notDirectory)]
            as [(String, Errno)]
        {
            let error = #expect(throws: IOError.self, "\(path)") { _ = try FolderTrust().open(scratch.path(path)) }
            #expect(error?.errno == errno, "\(path)")
        }
    }

    @Test("A link of somebody else is not followed", .enabled(if: geteuid() == 0, "needs root"))
    func theirLink() throws {
        try scratch.makeFolder("mine/deep")
        try scratch.link("link", to: "mine")
        change("link", owner: Self.nobody)
        let link = scratch.path("link")
        for path in ["link", "link/deep"] {
            #expect(throws: IOError(IOError.followingOthers, link, .notPermitted)) {
                _ = try FolderTrust().open(scratch.path(path))
            }
        }
        #expect(throws: Never.self) { _ = try FolderTrust(accepting: [link]).open(link) }
        #expect(throws: Never.self) { _ = try FolderTrust(as: Self.nobody).open(link) }
    }

    @Test("A name need not be text")
    func bytes() throws {
        let name = try #require(FileName([0x61, 0xff]))
        let folder = scratch.path(name)
        #expect(folder.withPlatformString { mkdir($0, 0o700) } == 0)
        #expect(FolderTrust().way(to: folder) == FolderTrust.Way())
    }
}

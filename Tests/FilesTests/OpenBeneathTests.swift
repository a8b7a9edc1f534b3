import Files
import Platform
import SystemPackage
import TestTools
import Testing

/// The same where the kernel goes the way at once and where it is gone name by name.
@Suite("Opening what lies below a folder") struct OpenBeneathTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write("x", to: "top/a/b/file")
        try scratch.write("y", to: "outside/file")
        try scratch.link("top/link", to: "a")
        try scratch.link("top/out", to: "../outside")
        try scratch.link("top/a/leaf", to: "b/file")
        try scratch.link("top/dangling", to: "nowhere")
        _ = scratch.path("top/fifo").withPlatformString { mkfifo($0, 0o600) }
    }

    private func error(_ path: FilePath, _ flags: Int32) throws -> Errno? {
        let top = try OpenFile.openFolder(scratch.path("top"))
        do throws(IOError) {
            _ = try OpenFile.open(path, below: top, flags, mode: 0o600)
            return nil
        } catch {
            #expect(error.path == scratch.path("top").pushing(path))
            return error.errno
        }
    }

    @Test(
        arguments: [
            ("", O_RDONLY | O_DIRECTORY), (".", O_RDONLY), ("a/b/file", O_RDONLY), ("a/./b/file", O_WRONLY),
            ("a/b", O_RDONLY | O_DIRECTORY), ("a/b/new", O_WRONLY | O_CREAT | O_EXCL), ("fifo", O_RDONLY | O_NONBLOCK),
        ] as [(FilePath, Int32)])
    func isReached(_ path: FilePath, _ flags: Int32) throws {
        #expect(try error(path, flags) == nil)
    }

    @Test(
        arguments: [
            "link", "out", "dangling", "a/leaf", "link/b/file", "out/file", "dangling/x", "a/leaf/x",
        ] as [FilePath])
    func noLinkIsFollowed(_ path: FilePath) throws {
        for flags in [O_RDONLY, O_RDONLY | O_DIRECTORY, O_RDONLY | O_NOFOLLOW, O_WRONLY | O_CREAT] {
            #expect(try error(path, flags) == .tooManySymbolicLinkLevels)
        }
    }

    @Test(arguments: ["..", "../outside/file", "a/..", "a/../a/b", "/", "/etc", "/../x"] as [FilePath])
    func nothingLeadsOut(_ path: FilePath) throws {
        #expect(try error(path, O_RDONLY) == .improperLink)
    }

    @Test(
        arguments: [
            ("none", O_RDONLY, .noSuchFileOrDirectory), ("none/x", O_RDONLY, .noSuchFileOrDirectory),
            ("none/x", O_WRONLY | O_CREAT, .noSuchFileOrDirectory), ("a/b/file/x", O_RDONLY, .notDirectory),
            ("a/b/file", O_RDONLY | O_DIRECTORY, .notDirectory), ("fifo/x", O_RDONLY, .notDirectory),
            ("a", O_WRONLY, .isDirectory), ("a/leaf", O_WRONLY | O_CREAT | O_EXCL, .fileExists),
            ("fifo", O_WRONLY | O_NONBLOCK, .noSuchAddressOrDevice),
            (FilePath(String(repeating: "n", count: 256)), O_RDONLY, .fileNameTooLong),
            (FilePath("a/" + String(repeating: "n", count: 256) + "/x"), O_RDONLY, .fileNameTooLong),
        ] as [(FilePath, Int32, Errno)])
    func failsAsTheKernelSays(_ path: FilePath, _ flags: Int32, _ expected: Errno) throws {
        #expect(try error(path, flags) == expected)
    }

    @Test func isGoneNameByNameFromAFolderThatMoved() throws {
        let top = try OpenFile.openFolder(scratch.path("top"))
        let moved = scratch.path("outside/moved")
        #expect(scratch.path("top").withPlatformString { from in moved.withPlatformString { rename(from, $0) } } == 0)
        #expect(try OpenFile.open("a/b/file", below: top, O_RDONLY).status().st_size == 1)
    }
}

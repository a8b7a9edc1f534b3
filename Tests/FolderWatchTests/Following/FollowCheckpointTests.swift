import Files
import Platform
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reading that goes on where another reader was.
@Suite("FollowCheckpoint", .timeLimit(.minutes(2))) struct FollowCheckpointTests {
    private let file: FollowedFile

    init() throws { file = try FollowedFile() }

    @Test(
        "From a checkpoint, the rest of a renamed file comes first",
        arguments: [true, false])
    func renamedSince(_ isReplaced: Bool) throws {
        try file.append("one ")
        let checkpoint = try file.checkpoint()
        try file.append("two ")
        try file.rename("log", "log.1")
        if isReplaced { try file.append("three") }
        var reader = try file.reader(from: .checkpoint(checkpoint))
        #expect(try all(&reader) == (isReplaced ? "two |three" : "two "))
        guard !isReplaced else { return }
        try file.append("three")
        #expect(try all(&reader) == "|three")
    }

    @Test("From the checkpoint of a removed file, the next one is told")
    func removedSince() throws {
        try file.append("one")
        let place = try file.checkpoint()
        // So that its number is not given to another one.
        let held = try OpenFile.open(file.path, O_RDONLY)
        try file.remove()
        var reader = try file.reader(from: .checkpoint(place))
        #expect(try all(&reader) == "")
        try file.append("two")
        #expect(try all(&reader) == "|two")
        try held.close()
    }

    /// The number of a removed file may be given to the next one: what it holds tells.
    @Test("Another file with the inode's number is told from its beginning")
    func sameNumber() throws {
        try file.append("another file")
        let known = try file.checkpoint()
        let place = FollowCheckpoint(inode: known.inode, offset: 4, tail: Array("some".utf8))
        var reader = try file.reader(from: .checkpoint(place))
        #expect(try all(&reader) == "^another file")
    }

    @Test("From a checkpoint, a file that was truncated since is told from its beginning")
    func truncatedSince() throws {
        try file.append("some text")
        let place = try file.checkpoint()
        try file.truncate(to: 4)
        var reader = try file.reader(from: .checkpoint(place))
        #expect(try all(&reader) == "^some")
    }

    @Test("From a checkpoint, a renamed file that was truncated is not read")
    func renamedAndTruncatedSince() throws {
        try file.append("some text")
        let place = try file.checkpoint()
        try file.truncate(to: 4)
        try file.rename("log", "log.1")
        try file.append("new")
        var reader = try file.reader(from: .checkpoint(place))
        #expect(try all(&reader) == "|new")
    }

    /// Where a renamed file has been replaced by something else under its old number.
    @Test("From a checkpoint, a FIFO with the inode's number is not opened")
    func fifoOfNumber() throws {
        try #require(file.scratch.path("folder/pipe").withPlatformString { mkfifo($0, 0o600) } == 0)
        let inode = UInt64(try #require(FileStatus.of(file.scratch.path("folder/pipe"))).st_ino)
        try file.append("new")
        var reader = try file.reader(from: .checkpoint(FollowCheckpoint(inode: inode)))
        #expect(try all(&reader) == "|new")
    }

    /// A checkpoint is whatever was stored.
    @Test(
        "No numbers in a checkpoint trap",
        arguments: [
            (-1, 0), (.min, 0), (.min, 64), (.max, 0), (.max, 64), (.max - 3, 64), (3, 64), (1, 1), (1, 0), (200, 3),
        ] as [(Int64, Int)])
    func strangersCheckpoint(_ offset: Int64, _ tail: Int) throws {
        try file.append("text")
        let inode = try file.checkpoint().inode
        let json = #"{"inode": \#(inode), "offset": \#(offset), "tail": \#([UInt8](repeating: 0, count: tail))}"#
        let place = try JSONDecoder().decode(FollowCheckpoint.self, from: Data(json.utf8))
        var reader = try file.reader(from: .checkpoint(place))
        #expect(try all(&reader) == "^text")
        // A large file is no help.
        try file.rename("log", "log.1")
        try file.append("other")
        var next = try file.reader(from: .checkpoint(place))
        #expect(try all(&next) == "|other")
    }

    @Test("A checkpoint can be stored")
    func codable() throws {
        try file.append("some text")
        let place = try file.checkpoint()
        let decoded = try JSONDecoder().decode(FollowCheckpoint.self, from: JSONEncoder().encode(place))
        #expect(decoded == place)
        #expect(FollowCheckpoint(inode: 1, offset: .max, tail: []).advanced(by: [1]).offset == .max)
    }

    @Test("A huge sparse file is followed at its end")
    func huge() throws {
        try file.append("a")
        // As large as the file system takes; the largest size of all where it takes that.
        let sizes: [Int64] = [.max, .max - 4095, 1 << 60, 1 << 43, 1 << 40, 1 << 31]
        let size = sizes.first { size in file.path.withPlatformString { Platform.truncate($0, off_t(size)) } == 0 }
        try #require(size != nil)
        var reader = try file.reader(from: .end)
        #expect(try all(&reader) == "")
        var beginning = try file.reader()
        #expect(try beginning.next()?.bytes.count == 65_536)
        try file.truncate(to: 2)
        #expect(try all(&reader) == "^a\0")
    }

    #if os(Linux)
        @Test(
            "The largest file that there can be is followed, too",
            .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
        func largest() throws {
            // Which takes any size.
            let mount = try TemporaryMount(tmpfs: "size=1m", at: file.scratch.path("mount"))
            let path = try file.scratch.write([0x61], to: mount.path.appending("log"))
            try #require(path.withPlatformString { Platform.truncate($0, .max) } == 0)
            let name = try #require(FileName("log"))
            var atEnd = FollowReader(name, in: mount.path, from: .end)
            #expect(try all(&atEnd) == "")
            let place = FollowCheckpoint(
                inode: UInt64(try #require(FileStatus.of(path)).st_ino), offset: .max - 10,
                tail: [UInt8](repeating: 0, count: 64))
            var near = FollowReader(name, in: mount.path, from: .checkpoint(place))
            let piece = try #require(try near.next())
            #expect(piece.bytes == [UInt8](repeating: 0, count: 10))
            #expect(piece.checkpoint.offset == .max)
            #expect(try all(&near) == "")
        }
    #endif
}

import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite("Transfer") struct TransferTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("A copy has the bytes, the mode and the times, whether it may share blocks or not", arguments: [true, false])
    func copies(sharing: Bool) throws {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let source = try scratch.write(bytes, to: scratch.path("source"))
        #expect(source.withPlatformString { chmod($0, 0o640) } == 0)
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000, tv_nsec: 5)]
        #expect(source.withPlatformString { utimensat(AT_FDCWD, $0, times, 0) } == 0)
        let folder = try Folder.open(scratch.path)
        try Transfer.copyFile("source", in: folder, to: "copy", in: folder, sharing: sharing)
        #expect(try Transfer.isCopy("copy", in: folder, of: "source", in: folder))
        let status = try folder.open("copy", O_RDONLY).status()
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(status.st_mtim.tv_sec == 1_000_000)
        let error = #expect(throws: IOError.self) {
            try Transfer.copyFile("source", in: folder, to: "copy", in: folder, sharing: sharing)
        }
        #expect(error?.errno == .fileExists)
    }

    @Test("A pipe is made anew instead of being waited for, alone and within a folder")
    func pipes() throws {
        let folder = try scratch.makeFolder("folder")
        let pipe = folder.appending("pipe")
        #expect(pipe.withPlatformString { mkfifo($0, 0o600) } == 0)
        let top = try Folder.open(scratch.path)
        try Transfer.copy("folder/pipe", in: top, to: "alone", in: top)
        try Transfer.copy("folder", in: top, to: "copy", in: top)
        for copy in ["alone", "copy/pipe"] { #expect(Folder.kind(of: scratch.path(copy)) == .special) }
        let error = #expect(throws: IOError.self) {
            try Transfer.copyFile("folder/pipe", in: top, to: "file", in: top)
        }
        #expect(error?.errno == .invalidArgument)
    }

    @Test("Holes stay holes, also in a file that is as large as a file can be", arguments: [true, false])
    func holes(sharing: Bool) throws {
        let folder = try Folder.open(scratch.path)
        let file = try folder.open("sparse", O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        #expect(pwrite(file.descriptor, "here", 4, 8 << 30) == 4)
        #expect(ftruncate(file.descriptor, 16 << 30) == 0)
        try Transfer.copyFile("sparse", in: folder, to: "copy", in: folder, sharing: sharing)
        let copy = try folder.open("copy", O_RDONLY)
        let status = try copy.status()
        #expect(status.st_size == 16 << 30)
        #expect(status.st_blocks < 1 << 10)
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(pread(copy.descriptor, &bytes, 4, 8 << 30) == 4)
        #expect(bytes == Array("here".utf8))
    }

    @Test(
        "They do so from one file system to another, and are not read to be compared",
        .enabled(if: access("/dev/shm", W_OK) == 0))
    func holesElsewhere() throws {
        let memory = FilePath("/dev/shm").appending("dropmill-holes-\(getpid())")
        try Folder.make(memory)
        defer { do { try Folder.remove(memory) } catch { Issue.record(error) } }
        let folder = try Folder.open(scratch.path)
        let other = try Folder.open(memory)
        // To read it would take minutes.
        let size = 1 << 40
        let file = try folder.open("sparse", O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        for place in [0, size / 2, size - 10] { #expect(pwrite(file.descriptor, "here", 4, place) == 4) }
        #expect(ftruncate(file.descriptor, size) == 0)
        try Transfer.copy("sparse", in: folder, to: "copy", in: other)
        #expect(try other.status(of: "copy")?.st_size == size)
        #expect(try other.status(of: "copy")?.st_blocks ?? .max < 1 << 10)
        #expect(try Transfer.isCopy("copy", in: other, of: "sparse", in: folder))
        // What is in the hole of the other makes the difference.
        let copy = try other.open("copy", O_WRONLY)
        #expect(pwrite(copy.descriptor, "x", 1, size / 4) == 1)
        #expect(try !Transfer.isCopy("copy", in: other, of: "sparse", in: folder))
        #expect(try !Transfer.isCopy("sparse", in: folder, of: "copy", in: other))
    }

    @Test("Rights to run as its owner are not copied")
    func setID() throws {
        let folder = try Folder.open(scratch.path)
        try scratch.write("x", to: "program")
        #expect(scratch.path("program").withPlatformString { chmod($0, 0o6755) } == 0)
        try Transfer.copyFile("program", in: folder, to: "copy", in: folder)
        #expect(try folder.status(of: "copy")?.st_mode == S_IFREG | 0o755)
    }
}

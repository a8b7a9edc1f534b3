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
        let copy = scratch.path("copy")
        try Transfer.copyFile(source, to: copy, sharing: sharing)
        #expect(try Transfer.isCopy(copy, of: source))
        let status = try OpenFile.open(copy, O_RDONLY).status()
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(status.st_mtim.tv_sec == 1_000_000)
        let error = #expect(throws: IOError.self) { try Transfer.copyFile(source, to: copy, sharing: sharing) }
        #expect(error?.errno == .fileExists)
    }

    @Test("A pipe is made anew instead of being waited for, alone and within a folder")
    func pipes() throws {
        let folder = try scratch.makeFolder("folder")
        let pipe = folder.appending("pipe")
        #expect(pipe.withPlatformString { mkfifo($0, 0o600) } == 0)
        try Transfer.copy(pipe, to: scratch.path("alone"))
        try Transfer.copy(folder, to: scratch.path("copy"))
        for copy in ["alone", "copy/pipe"] { #expect(Folder.kind(of: scratch.path(copy)) == .special) }
        let error = #expect(throws: IOError.self) { try Transfer.copyFile(pipe, to: scratch.path("file")) }
        #expect(error?.errno == .invalidArgument)
    }
}

import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import TestTools
import Testing

@testable import Journal
@testable import Retention

/// What is in an archive, as `zstd` reads it.
@Suite(.enabled(if: Tool.find("zstd") != nil, Comment(rawValue: Tool.skip("zstd")))) struct JobArchiveTests {
    private let scratch: ScratchFolder
    private let folder: FilePath

    init() throws {
        scratch = try ScratchFolder()
        folder = try scratch.makeFolder("archive")
    }

    private func archive(at time: Timestamp = Timestamp(seconds: 1_795_000_000, nanoseconds: 0)) -> JobArchive {
        JobArchive(now: { time }) { "{\"id\":\"\($0.id)\"}" }
    }

    private func jobs(_ numbers: ClosedRange<Int>) throws -> [JobRecord] {
        try numbers.map { number in
            try KeptSamples.job(number, original: FilePath("/done/\(number)"), endedAt: KeptSamples.time(number))
        }
    }

    @discardableResult
    private func append(
        _ numbers: ClosedRange<Int>, behind noted: ArchiveNote?, _ archive: JobArchive? = nil
    ) throws -> ArchiveNote {
        try (archive ?? self.archive()).append(try jobs(numbers), to: folder, behind: noted) { _ in }
    }

    private func numbers(in name: String = "dropmill-2026-11.jsonl.zst") throws -> [Int] {
        let zstd = try #require(Tool.find("zstd"))
        let output = try zstd.run(["-dcq", folder.appending(name).string])
        #expect(output.status == 0, "\(output)")
        let lines = output.text.split(separator: "\n").map(String.init)
        return try lines.map { line in
            try #require((1...5000).first { (try? line.contains(KeptSamples.id($0).text)) ?? false }, "\(line)")
        }
    }

    private var names: [String] {
        get throws { try Folder.names(in: folder).map(\.text).sorted() }
    }

    @Test func whatIsWrittenLaterIsOneFileWithWhatWasThere() throws {
        var note = try append(1...500, behind: nil)
        #expect(try Int64(ScratchFolder.read(note.path).count) == note.length)
        note = try append(501...501, behind: note)
        note = try append(502...900, behind: note)
        #expect(try numbers() == Array(1...900))
        #expect(try names == ["dropmill-2026-11.jsonl.zst"])
        #expect(FileStatus.of(note.path).map { $0.st_mode & 0o777 } == 0o600)
    }

    /// However much of a writing came to the disk before a crash: its jobs are written again, and are there once.
    @Test func whatACrashCutOffIsWrittenAgain() throws {
        let first = try append(1...20, behind: nil)
        let whole = try ScratchFolder.read(try append(21...40, behind: first).path)
        for length in Int(first.length)...whole.count {
            try scratch.write(Array(whole.prefix(length)), to: first.path)
            // A file that was replaced is another one, so that it is written over in place here.
            #expect(FileStatus.of(first.path).map { FileIdentity($0) } == first.identity)
            try append(21...40, behind: first)
            #expect(try numbers() == Array(1...40), "\(length) bytes")
        }
    }

    @Test func itIsNotedBeforeAnythingIsInIt() throws {
        var begun: [ArchiveNote] = []
        let note = try archive().append(try jobs(1...2), to: folder, behind: nil) { noted in
            #expect(FileStatus.of(noted.path)?.st_size == 0)
            begun.append(noted)
        }
        #expect(begun.map(\.length) == [0])
        #expect(begun.map(\.identity) == [note.identity])
        _ = try archive().append(try jobs(3...4), to: folder, behind: note) { _ in
            Issue.record("it was there")
        }
        // A crash before that leaves an empty one, which is taken; so is one that was noted and never written.
        try append(1...3, behind: begun[0])
        #expect(try numbers() == [1, 2, 3])
        try #require(truncate(note.path.string, 0) == 0)
        try append(7...8, behind: nil)
        #expect(try numbers() == [7, 8])
        #expect(try names.count == 1)
    }

    @Test func whatIsNotAsItWasLeftIsLeftAlone() throws {
        let note = try append(1...10, behind: nil)
        let content = try ScratchFolder.read(note.path)
        // Shorter than it was; another file under its name; none of that name.
        try scratch.write(Array(content.dropLast()), to: note.path)
        let second = try append(11...12, behind: note)
        #expect(second.path.lastComponent?.string == "dropmill-2026-11.2.jsonl.zst")
        try #require(rename(second.path.string, scratch.path("moved").string) == 0)
        try scratch.write(content, to: second.path)
        let third = try append(13...14, behind: second)
        #expect(third.path.lastComponent?.string == "dropmill-2026-11.3.jsonl.zst")
        #expect(try ScratchFolder.read(second.path) == content)
        try #require(unlink(third.path.string) == 0)
        #expect(try append(15...16, behind: third).path == third.path)
        #expect(try numbers(in: "dropmill-2026-11.3.jsonl.zst") == [15, 16])
        // A link leads nowhere.
        try #require(unlink(third.path.string) == 0)
        try #require(symlink(scratch.path("moved").string, third.path.string) == 0)
        #expect(try append(17...17, behind: third).path.lastComponent?.string == "dropmill-2026-11.4.jsonl.zst")
        #expect(try ScratchFolder.read(scratch.path("moved")).count == Int(second.length))
    }

    @Test func eachMonthHasItsOwn() throws {
        let note = try append(1...2, behind: nil)
        let december = archive(at: Timestamp(seconds: 1_795_000_000 + 20 * 86_400, nanoseconds: 0))
        try append(3...4, behind: note, december)
        #expect(try names == ["dropmill-2026-11.jsonl.zst", "dropmill-2026-12.jsonl.zst"])
        #expect(try numbers() == [1, 2])
        #expect(try numbers(in: "dropmill-2026-12.jsonl.zst") == [3, 4])
    }

    @Test func aFolderThatIsGoneIsNotMade() throws {
        let jobs = try jobs(1...1)
        let error = #expect(throws: ArchiveProblem.self) {
            _ = try archive().append(jobs, to: "/nowhere/at/all", behind: nil) { _ in }
        }
        let text = try #require(error?.sentence)
        #expect(text.contains("the history is kept") && text.hasSuffix("make the folder, or mount what it is on"))
    }

    @Test(.enabled(if: DiskImage.isPossible, "\(DiskImage.skip)")) func aFullDiskLeavesWhatWasThere() throws {
        let disk = try DiskImage(at: scratch.path("disk"))
        let archive = JobArchive { job in
            // Nothing that can be compressed.
            "\(job.id) " + (0..<4_000).map { _ in String(UInt8.random(in: .min ... .max), radix: 16) }.joined()
        }
        let jobs = try jobs(1...20)
        var note: ArchiveNote? = try archive.append(jobs, to: disk.path, behind: nil) { _ in }
        try fill(disk.path, but: 256 << 10)
        var problem: ArchiveProblem?
        for _ in 0..<20 where problem == nil {
            do throws(ArchiveProblem) {
                note = try archive.append(jobs, to: disk.path, behind: note) { _ in }
            } catch {
                problem = error
            }
        }
        let text = try #require(problem?.sentence)
        #expect(text.hasSuffix("free space on its file system"), "\(text)")
        let left = try #require(note)
        #expect(FileStatus.of(left.path).map { Int64($0.st_size) } == left.length)
        #expect(try #require(Tool.find("zstd")).run(["-tq", left.path.string]).status == 0)
    }

    /// Takes all of a disk's space but so many bytes.
    private func fill(_ folder: FilePath, but rest: Int) throws {
        let file = try OpenFile.open(folder.appending("filler"), O_WRONLY | O_CREAT, mode: 0o600)
        var size = 0
        while posix_fallocate(file.descriptor, off_t(size), 64 << 10) == 0 { size += 64 << 10 }
        try #require(ftruncate(file.descriptor, off_t(max(0, size - rest))) == 0)
    }
}

extension ArchiveProblem {
    fileprivate var sentence: String? { if case .archive(let text) = self { text } else { nil } }
}

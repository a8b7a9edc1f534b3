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

    private static func id(_ number: Int) throws -> JobID {
        let digits = String(number)
        return try #require(JobID("00000000" + String(repeating: "0", count: 18 - digits.count) + digits))
    }

    private func jobs(_ numbers: ClosedRange<Int>) throws -> [JobRecord] {
        try numbers.map { number in
            let time = Timestamp(seconds: number, nanoseconds: 0)
            let drop = Drop(name: try #require(FileName("\(number).pdf")), size: 1, droppedAt: time)
            let job = Job(
                id: try Self.id(number), pipeline: "scans", drop: drop, claimedAt: time, folder: FilePath("/work"))
            return JobRecord(claimed: job, identity: .unknown, definition: "")
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
            try #require((1...5000).first { (try? line.contains(Self.id($0).text)) ?? false }, "\(line)")
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

    /// As it was noted before a writing that did not come to its end.
    private func begun(_ note: ArchiveNote) -> ArchiveNote {
        var note = note
        note.isOpen = true
        return note
    }

    /// Writes over it in place.
    private func cut(_ note: ArchiveNote, to content: some Sequence<UInt8>) throws {
        try #require(truncate(note.path.string, 0) == 0)
        try scratch.append(Array(content), to: note.path)
    }

    /// However much of a writing came to the disk before a crash, and whichever month it is then: its jobs are written
    /// again, and are there once.
    @Test func whatACrashCutOffIsWrittenAgain() throws {
        let first = try append(1...20, behind: nil)
        let whole = try ScratchFolder.read(try append(21...40, behind: first).path)
        let december = archive(at: Timestamp(seconds: 1_795_000_000 + 20 * 86_400, nanoseconds: 0))
        for length in Int(first.length)...whole.count {
            try cut(first, to: whole.prefix(length))
            try append(21...40, behind: begun(first))
            #expect(try numbers() == Array(1...40), "\(length) bytes")
            guard length % 8 == 0 || length == whole.count else { continue }
            try cut(first, to: whole.prefix(length))
            let next = try append(21...40, behind: begun(first), december)
            #expect(try numbers() == Array(1...20), "\(length) bytes")
            #expect(try numbers(in: "dropmill-2026-12.jsonl.zst") == Array(21...40))
            try #require(unlink(next.path.string) == 0)
        }
    }

    @Test func itIsNotedBeforeAnythingIsInIt() throws {
        var notes: [ArchiveNote] = []
        var note: ArchiveNote?
        for number in 1...2 {
            note = try archive().append(try jobs(number...number), to: folder, behind: note) { noted in
                #expect(FileStatus.of(noted.path).map { Int64($0.st_size) } == noted.length)
                notes.append(noted)
            }
        }
        #expect(notes.map(\.isOpen) == [true, true] && note?.isOpen == false)
        #expect(notes.map(\.length) == [0, notes[1].length] && notes[1].length > 0)
        #expect(notes.allSatisfy { $0.inode == note?.inode && $0.folder == note?.folder })
    }

    /// Whoever has the same folder: an empty file may be about to be written.
    @Test func anothersFileIsNeverWritten() throws {
        try scratch.write("", to: "archive/dropmill-2026-11.jsonl.zst")
        let own = try append(1...2, behind: nil)
        let others = try append(3...4, behind: nil)
        try append(5...5, behind: own)
        try append(6...6, behind: others)
        #expect(try numbers(in: "dropmill-2026-11.2.jsonl.zst") == [1, 2, 5])
        #expect(try numbers(in: "dropmill-2026-11.3.jsonl.zst") == [3, 4, 6])
        #expect(try scratch.text("archive/dropmill-2026-11.jsonl.zst").isEmpty)
    }

    @Test func whatIsNotAsItWasLeftIsLeftAlone() throws {
        let note = try append(1...10, behind: nil)
        let content = try ScratchFolder.read(note.path)
        // Longer than it was, and shorter; a second name; another file under its name; none of that name.
        try cut(note, to: content + [7])
        let second = try append(11...12, behind: note)
        #expect(second.path.lastComponent?.string == "dropmill-2026-11.2.jsonl.zst")
        #expect(try ScratchFolder.read(note.path) == content + [7])
        try cut(note, to: content.dropLast())
        #expect(try append(11...12, behind: note).path.lastComponent?.string == "dropmill-2026-11.3.jsonl.zst")
        try #require(link(second.path.string, scratch.path("copy").string) == 0)
        let fourth = try append(13...14, behind: second)
        #expect(fourth.path.lastComponent?.string == "dropmill-2026-11.4.jsonl.zst")
        try #require(rename(fourth.path.string, scratch.path("moved").string) == 0)
        let fifth = try append(15...16, behind: begun(fourth))
        #expect(fifth.path.lastComponent?.string == "dropmill-2026-11.5.jsonl.zst")
        // A link leads nowhere.
        try #require(unlink(fifth.path.string) == 0)
        try #require(symlink(scratch.path("moved").string, fifth.path.string) == 0)
        let last = try append(17...17, behind: begun(fifth))
        #expect(last.path.lastComponent?.string == "dropmill-2026-11.6.jsonl.zst")
        #expect(try ScratchFolder.read(scratch.path("moved")).count == Int(fourth.length))
    }

    /// What was written into a file without a name would be lost.
    @Test func aFileThatIsTakenAwayMeanwhileIsBegunAnew() throws {
        let note = try append(1...2, behind: nil)
        var isTaken = false
        let next = try archive().append(try jobs(3...4), to: folder, behind: note) { noted in
            if !isTaken { isTaken = rename(noted.path.string, scratch.path("taken").string) == 0 }
        }
        #expect(isTaken && next.inode != note.inode)
        #expect(try numbers(in: "dropmill-2026-11.2.jsonl.zst") == [3, 4])
        let error = #expect(throws: ArchiveProblem.self) {
            let jobs = try jobs(5...5)
            _ = try archive().append(jobs, to: folder, behind: next) { unlink($0.path.string) }
        }
        #expect(error?.sentence?.contains("taken away") ?? false)
    }

    /// The folder of a mount that is away is there, and empty.
    @Test func anotherFolderInItsPlaceIsNotWritten() throws {
        let note = try append(1...2, behind: nil)
        try #require(rename(folder.string, scratch.path("away").string) == 0)
        try scratch.makeFolder("archive")
        let jobs = try jobs(3...4)
        let error = #expect(throws: ArchiveProblem.self) {
            _ = try archive().append(jobs, to: folder, behind: note) { _ in }
        }
        #expect(error?.sentence?.contains("its mount may be away") ?? false, "\(String(describing: error))")
        #expect(try names.isEmpty)
        // It is another that is asked for.
        try scratch.makeFolder("new")
        let moved = try archive().append(jobs, to: scratch.path("new"), behind: note) { _ in }
        #expect(moved.path.removingLastComponent() == scratch.path("new"))
        try #require(rmdir(folder.string) == 0 && rename(scratch.path("away").string, folder.string) == 0)
        try append(5...6, behind: note)
        #expect(try numbers() == [1, 2, 5, 6])
    }

    /// Moved to where all are, none takes another's place.
    @Test func aNameIsUsedOnce() throws {
        var note: ArchiveNote?
        try scratch.makeFolder("all")
        for number in 1...3 {
            note = try append(number...number, behind: note)
            let name = try #require(note?.path.lastComponent?.string)
            try #require(rename(folder.appending(name).string, scratch.path("all/\(name)").string) == 0)
        }
        #expect(
            try scratch.tree("all") == [
                "dropmill-2026-11.2.jsonl.zst", "dropmill-2026-11.3.jsonl.zst", "dropmill-2026-11.jsonl.zst",
            ])
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
        #expect(
            archive().problem(with: "/nowhere/at/all")?.hasSuffix("make the folder, or mount what it is on") ?? false)
        #expect(archive().problem(with: folder) == nil)
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
        try #require(unlink(disk.path.appending("filler").string) == 0)
        note = try archive.append(jobs, to: disk.path, behind: begun(left)) { _ in }
        #expect(note?.path == left.path)
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

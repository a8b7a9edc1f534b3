import Digests
import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Lines get into a list whole, whoever else has it in their hands.
@Suite("List file") struct ListFileTests {
    private let scratch: ScratchFolder
    private let texts = (1...3).map { ListScanTests.text($0) }
    private var whole: String { String(decoding: texts.flatMap(\.bytes), as: UTF8.self) }

    init() throws { scratch = try ScratchFolder() }

    private func add(
        _ addition: ListFile.Addition, rights: OutputRights = OutputRights(), others: [[UInt8]] = [],
        patience: Duration = .seconds(60)
    ) throws {
        let file = ListFile(
            try "SUMS".fileName, in: try HeldFolder(scratch.path, OpenFile.pathOnly), rights, isSyncedAlone: true,
            deadline: .now() + patience)
        try file.add(addition, others: { others })
    }

    private var addition: ListFile.Addition { ListFile.Addition(lines: texts) }
    private var byContent: ListFile.Addition { ListFile.Addition(lines: texts, byContent: true) }
    private var list: FilePath { scratch.path("SUMS") }

    private func mode() throws -> mode_t { try #require(FileStatus.of(list)).st_mode & 0o7777 }

    @Test("It is made, and added to")
    func made() throws {
        try add(addition)
        try add(ListFile.Addition(lines: [ListScanTests.text(4)]))
        #expect(try scratch.text("SUMS") == whole + String(decoding: ListScanTests.text(4).bytes, as: UTF8.self))
        #expect(try scratch.tree("") == ["SUMS"])
    }

    @Test("A list that has the lines is not written to, but in doubt they are written again", arguments: [false, true])
    func unchanged(isDoubtful: Bool) throws {
        try scratch.write("# theirs\n\(whole)", to: "SUMS")
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(list.withPlatformString { utimensat(AT_FDCWD, $0, &times, 0) } == 0)
        let before = FileIdentity.of(list)
        var addition = byContent
        addition.isDoubtful = isDoubtful
        try add(addition)
        #expect(try scratch.text("SUMS") == "# theirs\n\(whole)")
        #expect(FileIdentity.of(list) == before)
        #expect((FileStatus.of(list)?.st_mtim.tv_sec == 1) == !isDoubtful)
        #expect(try scratch.tree("") == ["SUMS"])
    }

    @Test("A torn tail is found without being told of it")
    func torn() throws {
        try scratch.write("# theirs\n" + whole.dropLast(20), to: "SUMS")
        try add(addition)
        #expect(try scratch.text("SUMS") == "# theirs\n\(whole)")
        try scratch.write("theirs", to: "SUMS")
        try add(addition)
        #expect(try scratch.text("SUMS") == "theirs\n\(whole)")
    }

    @Test("Damage is mended in place, so that nobody who has the list open loses it")
    func nuls() throws {
        let damaged = Array("# theirs\n\(whole)".utf8) + [UInt8](repeating: 0, count: 100)
        try scratch.write(damaged, to: list)
        #expect(list.withPlatformString { chmod($0, 0o600) } == 0)
        let before = FileIdentity.of(list)
        try add(ListFile.Addition(lines: texts + [ListScanTests.text(4)]))
        let blanks = String(repeating: " ", count: 99)
        let last = String(decoding: ListScanTests.text(4).bytes, as: UTF8.self)
        #expect(try scratch.text("SUMS") == "# theirs\n\(whole)#\(blanks)\n\(last)")
        #expect(FileIdentity.of(list) == before)
        #expect(try mode() == 0o600)
    }

    @Test("With `replace` the older line becomes a comment, for sha256sum and for us, and appending goes on")
    func replacing() throws {
        try scratch.write("content", to: "a")
        let digest = try Digest.of(Array("content".utf8), .sha256).hex
        let new = ListText(start: [], digest: Array(digest.utf8), end: Array("  a\n".utf8))
        let old = ListText(start: [], digest: Array(String(repeating: "0", count: 64).utf8), end: new.end)
        try add(ListFile.Addition(lines: [old]))
        try add(ListFile.Addition(lines: [new], byContent: true, isReplacing: true))
        let text = try scratch.text("SUMS")
        #expect(text == "#" + String(decoding: old.bytes.dropFirst() + new.bytes, as: UTF8.self))
        let checked = try Tool("/usr/bin/sha256sum").run(["--check", "--strict", "--quiet", "SUMS"], in: scratch.path)
        #expect(checked.status == 0)
    }

    @Test("What is no file of its own is not written to", arguments: ["link", "folder", "fifo", "hard link"])
    func strange(_ kind: String) throws {
        let other = try scratch.write("other", to: "elsewhere/other")
        switch kind {
        case "link": try scratch.link("SUMS", to: "elsewhere/other")
        case "folder": try scratch.makeFolder("SUMS")
        case "fifo": #expect(list.withPlatformString { mkfifo($0, 0o600) } == 0)
        default: #expect(other.withPlatformString { from in list.withPlatformString { link(from, $0) } } == 0)
        }
        let error = #expect(throws: IOError.self) { try add(addition) }
        #expect(error?.action == ListFile.adding && error?.path.lastName?.text == "SUMS")
        #expect(try ScratchFolder.read(other) == Array("other".utf8))
        let folder = try HeldFolder(scratch.path)
        #expect(try !ListFile.isPossible(try "SUMS".fileName, in: folder))
        #expect(try ListFile.isPossible(try "OTHERS".fileName, in: folder))
    }

    @Test("What has the list's name and is no text keeps every byte")
    func notOurs() throws {
        let theirs = Array("\u{7F}ELF\u{0}\u{0}code\u{0}more\u{0}".utf8)
        try scratch.write(theirs, to: list)
        try add(byContent)
        #expect(try ScratchFolder.read(list) == theirs + [0x0A] + Array(whole.utf8))
    }

    @Test("What is ours is opened to us, as what an archive brought may be closed")
    func closed() throws {
        try scratch.write("# theirs\n", to: "SUMS")
        #expect(list.withPlatformString { chmod($0, 0o444) } == 0)
        #expect(try ListFile.isPossible(try "SUMS".fileName, in: try HeldFolder(scratch.path)))
        try add(addition)
        #expect(try scratch.text("SUMS") == "# theirs\n\(whole)")
    }

    @Test("An empty list that is there keeps its rights, too")
    func empty() throws {
        try scratch.write("", to: "SUMS")
        #expect(list.withPlatformString { chmod($0, 0o664) } == 0)
        try add(addition, rights: OutputRights(mode: 0o444))
        #expect(try mode() == 0o664)
    }

    @Test(
        "What a sender puts in its place costs no more than its bytes", .timeLimit(.minutes(2)),
        arguments: [[0x61, 0], [0x0A], [0x61, 0x0A]] as [[UInt8]])
    func costly(_ unit: [UInt8]) throws {
        var bytes = unit
        while bytes.count < 2 << 20 { bytes += bytes }
        try scratch.write(bytes, to: list)
        let many = (1...256).map { ListScanTests.text($0) }
        let begun = MonotonicTime.spentByThread()
        try add(ListFile.Addition(lines: many, byContent: true))
        // A look at each line for each run would take minutes.
        #expect(MonotonicTime.spentByThread() - begun < .seconds(20))
        #expect(try ScratchFolder.read(list).count >= bytes.count + many.flatMap(\.bytes).count)
    }

    @Test("A list of terabytes keeps nobody waiting")
    func sparse() throws {
        try scratch.write("theirs\n", to: "SUMS")
        let size = off_t(1) << 40
        #expect(list.withPlatformString { truncate($0, size) } == 0)
        try add(byContent)
        let file = try OpenFile.open(list, O_RDONLY)
        #expect(lseek(file.descriptor, size, SEEK_SET) == size)
        let read = try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            Array(buffer.prefix(try file.read(into: buffer)))
        }
        #expect(read == [0x0A] + Array(whole.utf8))
    }

    @Test("Rights: the pipeline's, or for us and our group; what is there keeps its own")
    func rights() throws {
        let mask = umask(0)
        defer { umask(mask) }
        try add(addition)
        #expect(try mode() == 0o640)
        #expect(list.withPlatformString { chmod($0, 0o664) } == 0)
        try add(addition, rights: OutputRights(mode: 0o444))
        #expect(try mode() == 0o664)
        try Folder.remove(list)
        try add(addition, rights: OutputRights(mode: 0o444))
        #expect(try mode() == 0o644, "the pipeline's word, but we have to add to it")
    }

    @Test(
        "Readers that lock the list hold up no line, and who writes to it, or mends it, only until the deadline",
        arguments: [(LOCK_SH, false), (LOCK_SH, true), (LOCK_EX, false)])
    func locked(_ kind: Int32, byContent: Bool) throws {
        try scratch.write("# theirs\n", to: "SUMS")
        let held = try OpenFile.open(list, O_RDONLY)
        #expect(flock(held.descriptor, kind) == 0)
        var addition = addition
        addition.byContent = byContent
        try add(addition, patience: kind == LOCK_SH && !byContent ? .seconds(3600) : .zero)
        #expect(try scratch.text("SUMS") == "# theirs\n\(whole)")
        withExtendedLifetime(held) {}
    }

    @Test("Several add at the same time while somebody keeps putting another file in its place: no line is torn")
    func together() async throws {
        let rounds = 150
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    for round in 0..<rounds {
                        let text = ListScanTests.text(writer * rounds + round)
                        try add(ListFile.Addition(lines: [text], byContent: round % 10 == 0))
                    }
                }
            }
            // Like an editor that keeps the lock while it saves; one that does not loses lines of whoever comes
            // between.
            group.addTask {
                for round in 0..<30 { try replace("draft-\(round)") }
            }
            try await group.waitForAll()
        }
        let lines = try scratch.text("SUMS").split(separator: "\n").sorted()
        let expected = (0..<3 * rounds).map {
            String(decoding: ListScanTests.text($0).bytes.dropLast(), as: UTF8.self)
        }
        #expect(lines.map(String.init) == expected.sorted())
    }

    /// Puts a copy of the list in its place, under its lock.
    private func replace(_ draft: String) throws {
        while true {
            let file = try OpenFile.open(list, O_RDWR | O_CREAT, mode: 0o600)
            #expect(flock(file.descriptor, LOCK_EX) == 0)
            guard FileIdentity.of(list) == FileIdentity(try file.status()) else { continue }
            let copy = try scratch.write(try ScratchFolder.read(list), to: scratch.path(draft))
            #expect(copy.withPlatformString { from in list.withPlatformString { rename(from, $0) } } == 0)
            return
        }
    }

    /// How often this process has the list open.
    private var openings: Int {
        let names = (0..<1024).map { FilePath("/proc/self/fd/\($0)") }
        return names.count { ScratchFolder.target(of: $0) == list.string }
    }

    @Test("Whoever replaces the list between its opening and the write does not take the lines away")
    func replacedMeanwhile() async throws {
        try scratch.write("# old\n", to: "SUMS")
        let held = try OpenFile.open(list, O_RDWR)
        #expect(flock(held.descriptor, LOCK_EX) == 0)
        // A thread of its own: tests beside this one may have all others.
        let added = Mutex<Result<Void, any Error>?>(nil)
        DispatchQueue(label: "adding").async { @Sendable [self] in
            let result = Result { try add(addition, patience: .seconds(600)) }
            added.withLock { $0 = result }
        }
        #expect(await eventually { openings == 2 })
        try scratch.write("# new\n", to: "draft")
        #expect(scratch.path("draft").withPlatformString { from in list.withPlatformString { rename(from, $0) } } == 0)
        #expect(flock(held.descriptor, LOCK_UN) == 0)
        #expect(await eventually { added.withLock { $0 != nil } })
        try added.withLock { try $0?.get() }
        #expect(try scratch.text("SUMS") == "# new\n\(whole)")
        withExtendedLifetime(held) {}
    }

    @Test(
        "A disk that fills up leaves a beginning, which the next attempt completes",
        .enabled(if: TemporaryMount.isPossible, "needs root"))
    func fullDisk() throws {
        let mount = try TemporaryMount(tmpfs: "size=64k", at: try scratch.makeFolder("small"))
        defer { withExtendedLifetime(mount) {} }
        let folder = try HeldFolder(mount.path)
        let texts = (1...4000).map { ListScanTests.text($0) }
        let file = ListFile(try "SUMS".fileName, in: folder, OutputRights())
        let error = #expect(throws: IOError.self) { try file.add(ListFile.Addition(lines: texts)) }
        #expect(error?.action == "write" && error?.errno == .noSpace, "\(String(describing: error))")
        #expect(try ScratchFolder.read(mount.path.appending("SUMS")).count > 1000)
        let more = mount.path.withPlatformString { path in
            Glibc.mount("none", path, "tmpfs", UInt(MS_REMOUNT), "size=1m")
        }
        try #require(more == 0)
        try file.add(ListFile.Addition(lines: texts, byContent: true))
        #expect(try ScratchFolder.read(mount.path.appending("SUMS")) == texts.flatMap(\.bytes))
    }
}

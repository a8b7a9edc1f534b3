import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// What is more than there may be fails the archive before it is written, and the error names the limit, its value, the
/// entry and the option.
@Suite struct BudgetTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    private func policy(_ change: (inout ExtractionLimits) -> Void) -> UnpackPolicy {
        var policy = Extraction.policy
        change(&policy.limits)
        return policy
    }

    private func expectLimit(
        _ bytes: [UInt8], _ policy: UnpackPolicy, entry: String?, saying words: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let problem = try #require(try extraction.problem(bytes, policy), sourceLocation: location)
        #expect(problem.code == .limit, sourceLocation: location)
        #expect(problem.entry.map { String(decoding: $0, as: UTF8.self) } == entry, sourceLocation: location)
        for word in words {
            #expect(problem.fact.contains(word), "\(problem.fact)", sourceLocation: location)
        }
        #expect(!problem.remedy.isEmpty, sourceLocation: location)
    }

    private var twoFiles: [UInt8] {
        var tar = TarBuilder()
        tar.add("a", content: String(repeating: "a", count: 600))
        tar.add("b", content: String(repeating: "b", count: 600))
        return tar.finished
    }

    @Test func bytes() throws {
        try expectLimit(twoFiles, policy { $0.bytes = 1199 }, entry: "b", saying: "1199", "max_bytes")
        #expect(try Extraction().problem(twoFiles, policy { $0.bytes = 1200 }) == nil)
    }

    @Test func bytesOfOneFile() throws {
        try expectLimit(twoFiles, policy { $0.entry = 599 }, entry: "a", saying: "599", "max_entry")
        #expect(try extraction.tree() == [], "what is too large by its header is not begun")
        #expect(try Extraction().problem(twoFiles, policy { $0.entry = 600 }) == nil)
    }

    @Test func roomOnTheDisk() throws {
        var policy = policy { $0.bytes = 1000 }
        policy.limits.space = 1000
        #expect(try extraction.problem(twoFiles, policy)?.code == .noRoom)
    }

    /// What was free when it began is not what is free later: others write too. What must stay free stays so, but for
    /// the little that is taken between two looks.
    @Test(.enabled(if: TemporaryMount.isPossible, "needs root"))
    func roomThatOthersTake() throws {
        var tar = TarBuilder()
        for name in ["a", "b", "c"] { tar.add(Array(name.utf8), content: [UInt8](repeating: 7, count: 12 << 20)) }
        let archive = try extraction.scratch.write(tar.finished, to: extraction.scratch.path("archive"))
        // Of all there was when it began this one takes nearly all, or little: then it were others.
        for (taken, space, code) in [(0, 56, nil), (30, 56, .noRoom), (30, 1000, .diskFull)]
            as [(Int, Int64, ArchiveError.Code?)]
        {
            let policy = policy { ($0.space, $0.reserve) = (space << 20, 8 << 20) }
            let mount = try TemporaryMount(tmpfs: "size=64m", at: extraction.scratch.path("out"))
            let other = mount.path.appending("other")
            let problem: ArchiveError.Problem? = try {
                do {
                    try extraction.extract(archive, policy) {
                        // The first to be asked is the reader, when all the room there is has been seen.
                        guard taken > 0, Folder.kind(of: other) == nil else { return false }
                        let file = other.withPlatformString { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
                        if posix_fallocate(file, 0, off_t(taken) << 20) != 0 { Issue.record("there is no such room") }
                        close(file)
                        return false
                    }
                    return nil
                } catch ArchiveError.bad(let problem) {
                    return problem
                }
            }()
            #expect(problem?.code == code)
            guard let problem else { continue }
            #expect((problem.fact + problem.remedy).contains("min_free") && problem.entry == Array("c".utf8))
            #expect(try extraction.status("c").st_size < 9 << 20, "not all was written before it was seen")
        }
    }

    /// The last file that can be made may be as large as it likes; one more is asked for before it is made.
    @Test(.enabled(if: TemporaryMount.isPossible, "needs root"))
    func filesThatOthersMake() throws {
        let mount = try TemporaryMount(tmpfs: "size=64m,nr_inodes=2", at: extraction.scratch.path("out"))
        defer { withExtendedLifetime(mount) {} }
        var tar = TarBuilder()
        tar.add(Array("a".utf8), content: [UInt8](repeating: 7, count: 20 << 20))
        #expect(try extraction.problem(tar.finished, policy { ($0.space, $0.files) = (64 << 20, 1) }) == nil)

        let root = try OpenFile.openFolder(mount.path)
        for (files, code) in [(1_000_000, .diskFull), (2, .noRoom)] as [(Int64, ArchiveError.Code)] {
            let budget = Budget(policy { $0.files = files }.limits, UnpackMonitor(), folder: root.descriptor)
            budget.expect(size: 16 << 20)
            try budget.begin([1])
            try budget.charge((16 << 20) - 6000, total: (16 << 20) - 6000, to: [1])
            let problem: ArchiveError.Problem? = {
                do throws(ArchiveError) {
                    try budget.begin([2])
                    return nil
                } catch .bad(let problem) {
                    return problem
                } catch {
                    return nil
                }
            }()
            #expect(problem?.code == code && problem?.entry == [2])
            #expect(problem?.remedy.contains("min_free") == false && problem?.remedy.contains("files") == true)
        }
    }

    /// A header may claim what it likes: only what comes takes room.
    @Test func claimsTakeNoRoom() throws {
        var tar = TarBuilder()
        tar.add(Array("big".utf8), content: [1], claimed: 7 << 30)
        #expect(try extraction.problem(tar.finished, policy { $0.space = 100_000 })?.code == .damaged)
    }

    /// Each file takes an inode and a block besides its bytes.
    @Test func emptyFilesTakeRoom() throws {
        var zip = ZipBuilder()
        for index in 0..<100 { zip.add("f\(index)") }
        #expect(try Extraction().problem(zip.finished, policy { $0.space = 50 * 4096 })?.code == .noRoom)
        #expect(try Extraction().problem(zip.finished, policy { $0.files = 99 })?.code == .noRoom)
        #expect(try Extraction().problem(zip.finished, policy { ($0.space, $0.files) = (100 * 4096, 100) }) == nil)
    }

    /// Folders that no entry names are made all the same.
    @Test func foldersThatAreNotListed() throws {
        var zip = ZipBuilder()
        for index in 0..<10 { zip.add("\(index)/d/d/d/d/f") }
        try expectLimit(zip.finished, policy { $0.entries = 59 }, entry: "9/d/d/d/d/f", saying: "59", "max_entries")
        #expect(try Extraction().problem(zip.finished, policy { $0.entries = 60 }) == nil)
    }

    /// What comes out of one layer is no input of the next.
    @Test func aRatioOverLayers() throws {
        let gzip = try #require(Tool.find("gzip"))
        func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
            let scratch = try ScratchFolder()
            let path = try scratch.write(bytes, to: scratch.path("x"))
            try #require(try gzip.run(["-n", path.string]).status == 0)
            return try scratch.read("x.gz")
        }
        // With some noise, so that each layer swells to eight times its size and no more.
        var random = Random(seed: 3)
        let noise = (0..<40_000).map { _ in UInt8(random.next(below: 256)) }
        let inner = try compressed(noise + [UInt8](repeating: 0, count: 300_000))
        let outer = try compressed(inner + [UInt8](repeating: 0, count: 300_000))
        var policy = policy { ($0.ratio, $0.ratioGrace) = (12, 1000) }
        #expect(try Extraction().problem(outer, policy) == nil)
        policy.nested = 1
        #expect(try Extraction().problem(outer, policy)?.fact.contains("max_ratio") == true)
    }

    @Test func entries() throws {
        try expectLimit(twoFiles, policy { $0.entries = 1 }, entry: "b", saying: "1", "max_entries")
        var zip = ZipBuilder()
        for name in ["a", "b", "c"] { zip.add(name) }
        // A zip says so before anything is unpacked.
        try expectLimit(zip.finished, policy { $0.entries = 2 }, entry: nil, saying: "2", "max_entries")
    }

    /// Gives headers of empty files, one behind the other, the numbers from this one on as names. In plain loops: tests
    /// are not optimised.
    private static func number(_ headers: inout [UInt8], from first: Int) {
        headers.withUnsafeMutableBufferPointer { buffer in
            for index in 0..<(buffer.count / 512) {
                let start = index * 512
                var (rest, place) = (first + index, 6)
                // The sum is of all bytes but its own, which count as blanks.
                var sum = buffer[(start + 148)..<(start + 154)].reduce(0) { $0 * 8 + Int($1) - 0x30 }
                while place >= 0 {
                    sum -= Int(buffer[start + place])
                    buffer[start + place] = UInt8(0x30 + rest % 10)
                    sum += Int(buffer[start + place])
                    rest /= 10
                    place -= 1
                }
                place = 153
                while place >= 148 {
                    buffer[start + place] = UInt8(0x30 + sum % 8)
                    sum /= 8
                    place -= 1
                }
            }
        }
    }

    /// Of a million names each of which is another.
    @Test func aMillionNames() throws {
        let gzip = try #require(Tool.find("gzip"))
        let path = extraction.scratch.path("names")
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT, mode: 0o644)
        var block = TarBuilder()
        block.add("0000000")
        var headers = block.bytes
        // Doubled, since one by one takes long in a debug build.
        while headers.count < 512 * 8192 { headers += headers }
        for part in 0..<123 {
            Self.number(&headers, from: part * 8192)
            try file.write(headers)
        }
        try file.close()
        try #require(try gzip.run(["-1", path.string]).status == 0)
        let problem = #expect(throws: ArchiveError.self) {
            try extraction.extract(extraction.scratch.path("names.gz"), policy { $0.entries = 2000 })
        }
        guard case .bad(let problem) = problem else { return }
        #expect(problem.code == .limit && problem.fact.contains("max_entries"))
        #expect(problem.entry == Array("0002000".utf8))
        #expect(try extraction.tree().count == 2000)
    }

    @Test func aMillionEntries() throws {
        var tar = TarBuilder()
        tar.add("f")
        let entry = tar.bytes
        let gzip = try #require(Tool.find("gzip"))
        let path = extraction.scratch.path("million")
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT, mode: 0o644)
        // All of one name: the limit is met, or the second is one too many of that name; both before there are many.
        let thousand = Array((0..<1000).map { _ in entry }.joined())
        for _ in 0..<1000 { try file.write(thousand) }
        try file.close()
        try #require(try gzip.run(["-1", path.string]).status == 0)
        let problem = #expect(throws: ArchiveError.self) {
            try extraction.extract(extraction.scratch.path("million.gz"))
        }
        #expect(problem == .conflict(Array("f".utf8), "is stored twice"))

        var folders = TarBuilder()
        folders.add("d/", .folder, mode: 0o755)
        // Folders may be listed again, but each is an entry.
        let many = Array((0..<1000).map { _ in folders.bytes }.joined())
        try expectLimit(many, policy { $0.entries = 999 }, entry: "d/", saying: "999", "max_entries")
    }

    /// 4 TiB in half a KiB.
    @Test func aSparseBomb() throws {
        var tar = TarBuilder()
        tar.add(Array("hole".utf8), .sparse, content: [1], logical: 4 << 40)
        try expectLimit(tar.finished, policy { $0.entry = 10 << 30 }, entry: "hole", saying: "max_entry")
        try expectLimit(tar.finished, Extraction.policy, entry: "hole", saying: "max_bytes", "\(10 << 30)")
        #expect(try extraction.tree() == [])
    }

    @Test(arguments: [("zstd", ["-q", "-19"], "zst"), ("gzip", ["-1"], "gz"), ("xz", ["-0"], "xz")])
    func aRatioBomb(program: String, options: [String], ending: String) throws {
        guard let tool = Tool.find(program) else { return }
        let path = extraction.scratch.path("zeros")
        try #require(creat(path.string, 0o644) >= 0 && truncate(path.string, 96 << 20) == 0)
        try #require(try tool.run(options + [path.string]).status == 0)
        let bomb = try extraction.scratch.read("zeros.\(ending)")
        try expectLimit(bomb, Extraction.policy, entry: "lone", saying: "100", "max_ratio")
        let size = try extraction.status("lone").st_size
        #expect(size <= 65 << 20, "\(size) bytes were written")
        #expect(try Extraction().problem(bomb, policy { $0.ratio = 100_000 }) == nil)
    }

    @Test func names() throws {
        func zip(_ name: String) -> [UInt8] {
            var zip = ZipBuilder()
            zip.add(name, content: "x")
            return zip.finished
        }
        let long = String(repeating: "a", count: 256)
        try expectLimit(zip(long), Extraction.policy, entry: String(long.prefix(200)), saying: "256", "255", "max_name")
        let deep = String(repeating: "a/", count: 32) + "f"
        try expectLimit(zip(deep), Extraction.policy, entry: deep, saying: "32", "max_depth")
        #expect(try Extraction().problem(zip(deep), policy { $0.depth = 33 }) == nil)
        let path =
            String(repeating: String(repeating: "b", count: 250) + "/", count: 4) + String(repeating: "c", count: 21)
        try expectLimit(
            zip(path), Extraction.policy, entry: String(path.prefix(200)), saying: "1025", "1024", "max_path")
        #expect(try Extraction().problem(zip(path), policy { $0.path = 1025 }) == nil)
    }
}

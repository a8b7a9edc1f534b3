import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

/// Trees that a sender makes to hold up the daemon.
@Suite("Looks at large trees", .timeLimit(.minutes(5)), .serialized) struct BoundedLookTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Folders in each other, with ten empty ones beside each of the innermost: made and removed by descriptors, since
    /// no path reaches that deep.
    private func makeComb(in above: FilePath, depth: Int, teeth: Int) throws {
        var folder = open(above.string, O_RDONLY | O_DIRECTORY)
        for level in 0..<depth {
            try #require(mkdirat(folder, "d", 0o755) == 0)
            if level >= depth - teeth {
                for number in 0..<10 { try #require(mkdirat(folder, "s\(number)", 0o755) == 0) }
            }
            let next = openat(folder, "d", O_RDONLY | O_DIRECTORY)
            close(folder)
            folder = next
        }
        close(folder)
    }

    private func engine(_ adjust: (inout Pipeline) -> Void = { _ in }) throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: [.passing]) {
            $0.ready.unit = .folder
            adjust(&$0)
        }
    }

    @Test("A comb of 1,850 folders fails alone, at once; its neighbour, the telling and the stop go on")
    func comb() async throws {
        let outside = try scratch.makeFolder("comb")
        try makeComb(in: outside, depth: 1850, teeth: 1000)
        try scratch.write("1", to: "inbox/small/file")
        let engine = try engine()
        try engine.start()
        let target = scratch.path("inbox/comb")
        #expect(outside.withPlatformString { from in target.withPlatformString { rename(from, $0) } } == 0)
        #expect(await eventually { engine.reports.count == 2 })
        let report = try scratch.text("failed/comb.error.json")
        #expect(report.contains("has more than 64 nested folders"), "\(report)")
        #expect(report.contains("raise `ready.max_depth`"))
        #expect(scratch.exists("failed/comb/d/d") && scratch.exists("processed/small/file"))
        #expect(await engine.waiting().waiting == 0)
        #expect(await engine.stop() != nil)
        _ = try Tool.find("rm")?.run(["-rf", scratch.path("failed/comb").string])
    }

    @Test("Beyond each limit a drop fails with the limit and the key that raises it; at the limit it is taken")
    func limits() async throws {
        let engine = try engine {
            $0.ready.limits = ReadyRule.Limits(size: ByteSize(bytes: 10), entries: 4, depth: 2)
        }
        try scratch.write("12345", to: "inbox/good/a/b/file")
        try scratch.write("12345", to: "inbox/good/file")
        try scratch.write("1", to: "inbox/deep/a/b/c/file")
        for number in 0..<5 { try scratch.write("1", to: "inbox/many/\(number)") }
        for number in 0..<2 { try scratch.write("123456", to: "inbox/large/\(number)") }
        try engine.start()
        #expect(await eventually { engine.reports.count == 4 })
        #expect(scratch.exists("processed/good/a/b/file"))
        for (name, key) in [("deep", "max_depth"), ("many", "max_entries"), ("large", "max_size")] {
            let report = try scratch.text("failed/\(name).error.json")
            #expect(report.contains("\"ready.limit\"") && report.contains("`ready.\(key)`"), "\(report)")
        }
        _ = await engine.stop()
    }

    @Test("A file that is too large fails once it stands still, whether its marker is there or not")
    func file() async throws {
        let marker = try MarkerRule(Template("{name}.done", use: .name))
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) {
            $0.ready.limits.size = ByteSize(bytes: 3)
            $0.ready.marker = marker
        }
        try engine.drop("large", "1234")
        try engine.drop("good", "123")
        try engine.drop("good.done")
        try engine.start()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.text("failed/large.error.json").contains("is larger than 3 B"))
        #expect(scratch.exists("processed/good"))
        _ = await engine.stop()
    }

    @Test("A look that is broken off and gone on with finds what one at a stretch finds")
    func slices() throws {
        for folder in 0..<30 {
            for file in 0..<10 { try scratch.write("\(file)", to: "inbox/a/f\(folder)/g/\(file)") }
        }
        let inbox = try OpenFile.openFolder(scratch.path("inbox"))
        let name = try "a".fileName
        let whole = try TreeLook.examine(name, in: inbox, asking: nil)
        let sliced = try TreeLook(at: name, in: inbox, asking: nil)
        var slices = 1
        // A slice that ends at once takes in one entry.
        while try !sliced.goOn(until: .now()) { slices += 1 }
        #expect(sliced.sample == whole.sample)
        #expect(slices > 300)
        guard case .file(let fingerprint, _) = whole.sample else { throw NotAName() }
        #expect(fingerprint.size == 300)
        try scratch.write("0", to: "inbox/a/f0/g/new")
        #expect(try TreeLook.examine(name, in: inbox, asking: nil).sample != whole.sample)
    }

    @Test("A look has open the folders that it is in, and none twice")
    func opens() throws {
        try makeComb(in: try scratch.makeFolder("inbox/a"), depth: 60, teeth: 0)
        let inbox = try OpenFile.openFolder(scratch.path("inbox"))
        let before = try descriptors()
        let look = try TreeLook(at: "a".fileName, in: inbox, asking: nil)
        var most = 0
        while try !look.goOn(until: .now()) { most = max(most, try descriptors() - before) }
        #expect((60...64).contains(most), "\(most)")
        #expect(try descriptors() <= before + 3)
    }

    /// How many there are of what lies in the scratch folder: other tests have theirs.
    private func descriptors() throws -> Int {
        let folder = try Folder.open("/proc/self/fd")
        return try folder.names().filter { name in
            // One that another test has just closed is none of ours.
            guard let path = try folder.target(ofLink: FilePath().appending(name)) else { return false }
            return path.starts(with: scratch.path)
        }.count
    }

    @Test("While one large tree is looked at, others are claimed and told of")
    func neighbours() async throws {
        for folder in 0..<40 {
            for number in 0..<250 { try scratch.makeFolder("inbox/large/\(folder)/\(number)") }
        }
        let engine = try engine()
        try engine.start()
        try scratch.write("1", to: "inbox/small/file")
        #expect(await eventually { engine.reports.count == 2 })
        #expect(engine.reports.map(\.job.drop.name.text) == ["small", "large"])
        _ = await engine.stop()
    }
}

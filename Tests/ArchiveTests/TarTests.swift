import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// Tars of several volumes, of old programs, and of programs that append.
@Suite struct TarTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    private func policy(_ change: (inout UnpackPolicy) -> Void) -> UnpackPolicy {
        var policy = Extraction.policy
        change(&policy)
        return policy
    }

    // MARK: Volumes

    /// The rest of a file is no file.
    @Test(arguments: ["gnu", "pax"])
    func volumes(format: String) throws {
        let scratch = extraction.scratch
        try scratch.write((0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }, to: scratch.path("f"))
        let made = try Tool("/bin/sh").run(
            ["-ec", "tar --format=\(format) -c -M -L 20 -f one -f two f </dev/null"], in: scratch.path)
        try #require(made.status == 0, "\(made.text)")
        #expect(try Extraction().problem(try scratch.read("one"))?.code == .damaged)
        for policy in [Extraction.policy, policy { $0.tarEnd = .optional }] {
            let problem = try Extraction().problem(try scratch.read("two"), policy)
            #expect(problem?.code == .unsupported)
            #expect(problem?.fact.contains("part of a split archive") == true)
        }
    }

    /// Only a label tells the first volume from a tar that was cut.
    @Test func theFirstVolume() throws {
        let scratch = extraction.scratch
        try scratch.write([UInt8](repeating: 7, count: 30_000), to: scratch.path("f"))
        let made = try Tool("/bin/sh").run(
            ["-ec", "tar -c -M -V label -L 20 -f one -f two f </dev/null; tar -c -V label -f whole f"],
            in: scratch.path)
        try #require(made.status == 0, "\(made.text)")
        let problem = try Extraction().problem(try scratch.read("one"))
        #expect(problem?.fact.contains("part of a split archive") == true)
        #expect(problem?.remedy == "Join the parts and send the complete archive.")
        let whole = try scratch.read("whole")
        #expect(try Extraction().problem(whole) == nil)
        #expect(try Extraction().problem(Array(whole.prefix(5000)))?.code == .damaged)
    }

    @Test func aMemberThatGoesOn() throws {
        var tar = TarBuilder()
        tar.add("a", content: "x")
        tar.add("f", .continued, content: "the rest")
        let problem = try extraction.problem(tar.finished)
        #expect(problem?.code == .unsupported && problem?.entry == Array("f".utf8))
        #expect(problem?.remedy == "Join the parts and send the complete archive.")
    }

    // MARK: The end

    @Test func withoutAnEnd() throws {
        var tar = TarBuilder()
        tar.add("a", content: String(repeating: "a", count: 700))
        tar.add("b", content: "b")
        let optional = policy { $0.tarEnd = .optional }
        for ending in [0, 512, 1024] {
            let bytes = tar.bytes + [UInt8](repeating: 0, count: ending)
            let problem = try Extraction().problem(bytes)
            #expect((problem == nil) == (ending == 1024))
            if ending < 1024 { #expect(problem?.fact == "ends too early: the end mark is missing") }
            let extraction = try Extraction()
            try extraction.extract(bytes, optional)
            #expect(try extraction.tree() == ["a", "b"])
        }
        // What is cut within a member is cut, and what follows the end still does.
        for length in [600, 1200, 1700, 2100] {
            #expect(try Extraction().problem(Array(tar.bytes.prefix(length)), optional)?.code == .damaged, "\(length)")
        }
        let behind = try Extraction().problem(tar.finished + [UInt8](repeating: 7, count: 512), optional)
        #expect(behind?.fact == "has 512 bytes after its end that would not be unpacked")
    }

    // MARK: Names that come again

    private static let last = {
        var policy = Extraction.policy
        policy.duplicates = .last
        return policy
    }()

    @Test func theLastOneCounts() throws {
        var tar = TarBuilder()
        tar.add("a", content: "first, and longer")
        tar.add("d/", .folder, mode: 0o755)
        tar.add("d/f", content: "first")
        tar.add("./a", content: "second")
        tar.add("d/", .folder, mode: 0o755)
        tar.add("d/f", content: "second")
        #expect(try Extraction().problem(tar.finished)?.code == .conflictingEntries)
        try extraction.extract(tar.finished, Self.last)
        #expect(try extraction.tree() == ["a", "d/", "d/f"])
        #expect(try extraction.scratch.text("out/a") == "second")
        #expect(try extraction.scratch.text("out/d/f") == "second")
    }

    @Test func linksThatComeAgain() throws {
        typealias Step = (TarBuilder.Kind, String)
        let steps: [(steps: [Step], expected: [String])] = [
            ([(.symbolicLink, "a"), (.symbolicLink, "b")], ["a", "b", "x -> b"]),
            ([(.symbolicLink, "a"), (.file, "")], ["a", "b", "x"]),
            ([(.file, ""), (.symbolicLink, "a")], ["a", "b", "x -> a"]),
            ([(.file, ""), (.hardLink, "a")], ["a", "b", "x"]),
            ([(.symbolicLink, "b"), (.hardLink, "a")], ["a", "b", "x"]),
            ([(.hardLink, "a"), (.symbolicLink, "b"), (.file, "")], ["a", "b", "x"]),
        ]
        for (steps, expected) in steps {
            var tar = TarBuilder()
            for name in ["a", "b"] { tar.add(name, content: name) }
            for (kind, target) in steps { tar.add("x", kind, content: kind == .file ? "own" : "", target: target) }
            let extraction = try Extraction()
            try extraction.extract(tar.finished, Self.last)
            #expect(try extraction.tree() == expected, "\(steps)")
            // Never written through one.
            #expect(try extraction.scratch.text("out/a") == "a")
            #expect(try extraction.scratch.text("out/b") == "b")
        }
    }

    @Test func whatCannotTakeAnothersPlace() throws {
        for kinds in [[TarBuilder.Kind.folder, .file], [.file, .folder], [.folder, .symbolicLink]] {
            var tar = TarBuilder()
            for kind in kinds { tar.add("x", kind, target: kind == .symbolicLink ? "y" : "", mode: 0o755) }
            #expect(try Extraction().problem(tar.finished, Self.last)?.code == .conflictingEntries, "\(kinds)")
        }
        // The directory of a zip lists each once.
        var zip = ZipBuilder()
        for _ in 0..<2 { zip.add("a", content: "x") }
        #expect(try Extraction().problem(zip.finished, Self.last)?.code == .conflictingEntries)
    }

    @Test func archivesWithinThatComeAgain() throws {
        var (first, second, tar) = (ZipBuilder(), ZipBuilder(), TarBuilder())
        first.add("first", content: "x")
        second.add("second", content: "x")
        tar.add(Array("a.zip".utf8), content: first.finished)
        tar.add(Array("a.zip".utf8), content: second.finished)
        tar.add(Array("b.zip".utf8), content: first.finished)
        tar.add("b.zip", content: "plain")
        var policy = Self.last
        policy.nested = 1
        #expect(try extraction.extract(tar.finished, policy).nested == 1)
        #expect(try extraction.tree() == ["a.zip/", "a.zip/second", "b.zip"])
    }

    @Test func whatTarAppends() throws {
        let scratch = extraction.scratch
        try scratch.write("first", to: "f")
        let made = try Tool("/bin/sh").run(
            ["-ec", "tar -cf archive.tar f; echo second >f; tar -rf archive.tar f"], in: scratch.path)
        try #require(made.status == 0, "\(made.text)")
        try extraction.extract(try scratch.read("archive.tar"), Self.last)
        #expect(try scratch.text("out/f") == "second\n")
    }
}

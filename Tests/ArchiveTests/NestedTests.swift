import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// Archives within archives, and layers of compression.
@Suite struct NestedTests {
    private func policy(_ nested: Int) -> UnpackPolicy {
        var policy = Extraction.policy
        policy.nested = nested
        return policy
    }

    private func zip(_ files: (String, [UInt8])...) -> [UInt8] {
        var zip = ZipBuilder()
        for (name, content) in files { zip.add(Array(name.utf8), content: content) }
        return zip.finished
    }

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let scratch = try ScratchFolder()
        let path = try scratch.write(bytes, to: scratch.path("x"))
        try #require(try #require(Tool.find("gzip")).run(["-n", path.string]).status == 0)
        return try scratch.read("x.gz")
    }

    private var inner: [UInt8] { zip(("deep.txt", Array("deep".utf8))) }

    @Test(arguments: 0...3)
    func asManyLayersAsWanted(nested: Int) throws {
        let archive = zip(("b/2.zip", zip(("1.zip", inner), ("plain", [1]))))
        let extraction = try Extraction()
        let report = try extraction.extract(archive, policy(nested))
        let expected: [[String]] = [
            ["b/", "b/2.zip"], ["b/", "b/2.zip/", "b/2.zip/1.zip", "b/2.zip/plain"],
            ["b/", "b/2.zip/", "b/2.zip/1.zip/", "b/2.zip/1.zip/deep.txt", "b/2.zip/plain"],
        ]
        #expect(try extraction.tree() == expected[min(nested, 2)])
        #expect(report.nested == Int64(min(nested, 2)))
    }

    @Test func compressedFilesWithin() throws {
        let archive = zip(("log.gz", try gzip(Array("log".utf8))), ("a.tgz", try gzip(tar)))
        let extraction = try Extraction()
        try extraction.extract(archive, policy(1))
        #expect(try extraction.tree() == ["a.tgz/", "a.tgz/f", "log"])
    }

    private var tar: [UInt8] {
        var tar = TarBuilder()
        tar.add("f", content: "x")
        return tar.finished
    }

    @Test func aNameThatIsTaken() throws {
        let archive = zip(("log.gz", try gzip([1])), ("log", [2]))
        #expect(try Extraction().problem(archive, policy(1))?.code == .conflictingEntries)
    }

    /// A compressed file's content lies where the file lay, and is told apart from what is beside it.
    @Test(arguments: [
        ("Log", "log.gz", true), ("d/log", "d/LOG.gz", true), ("d/log", "e/LOG.gz", false), ("log.gz", "LOG", false),
        ("STRASSE", "straße.gz", true), ("D/x", "d/y.gz", true),
    ])
    func namesOfCompressedFiles(other: String, compressed: String, areOne: Bool) throws {
        let content = try gzip([1])
        let archive = zip((other, [2]), (compressed, content))
        var policy = policy(2)
        for bytes in [archive, zip(("a/1.zip", archive))] {
            policy.uniqueNames = .exact
            #expect(try Extraction().problem(bytes, policy) == nil)
            policy.uniqueNames = .strict
            let problem = try Extraction().problem(bytes, policy)
            #expect(problem?.code == (areOne ? .conflictingEntries : nil))
        }
    }

    /// A tar without entries is a file of zeros: which it is only its name can say.
    @Test(arguments: [
        ("a.tar.gz", true), ("a.TGZ", true), ("a.gz", false), ("a.bin.gz", false), ("tar", false), ("a", false),
    ])
    func nothingButZeros(name: String, isTar: Bool) throws {
        for count in [1024, 10_240, 20_480] {
            var extraction = try Extraction()
            extraction.name = name
            let bytes = try gzip([UInt8](repeating: 0, count: count))
            let problem = try extraction.problem(bytes)
            #expect(problem?.code == (isTar ? .empty : nil), "\(count) zeros")
            guard !isTar else { continue }
            let file = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
            #expect(try extraction.status(file).st_size == off_t(count))
        }
    }

    @Test func documentsStay() throws {
        let extraction = try Extraction()
        try extraction.extract(zip(("letter.docx", inner), ("x.zip", inner)), policy(1))
        #expect(try extraction.tree() == ["letter.docx", "x.zip/", "x.zip/deep.txt"])
    }

    /// A file that holds itself, as far as anybody would look: one layer comes off, and the rest is a file.
    @Test func layersOfCompression() throws {
        var bytes = Array("core".utf8)
        for _ in 0..<30 { bytes = try gzip(bytes) }
        let extraction = try Extraction()
        try extraction.extract(bytes)
        #expect(try extraction.scratch.read("out/lone").prefix(2) == [0x1F, 0x8B])
    }

    /// A path within a path is one path.
    @Test func oneDepth() throws {
        let archive = zip(("a/b/1.zip", zip(("c/d/2.zip", inner))))
        var policy = policy(2)
        // a/b/1.zip/c/d/2.zip/deep.txt
        policy.limits.depth = 7
        policy.limits.path = 28
        #expect(try Extraction().problem(archive, policy) == nil)
        policy.limits.depth = 6
        #expect(try Extraction().problem(archive, policy)?.fact.contains("max_depth") == true)
        (policy.limits.depth, policy.limits.path) = (7, 27)
        #expect(try Extraction().problem(archive, policy)?.fact.contains("max_path") == true)
    }

    @Test func oneBudget() throws {
        let archive = zip(("1.zip", inner), ("2.zip", inner))
        var policy = policy(1)
        policy.limits.entries = 3
        let problem = try Extraction().problem(archive, policy)
        #expect(problem?.code == .limit)
        #expect(problem?.entry == Array("2.zip".utf8))
        policy.limits.entries = 4
        #expect(try Extraction().problem(archive, policy) == nil)
    }

    @Test func harmWithin() throws {
        let evil = zip(("../../evil", [1]))
        let extraction = try Extraction()
        let problem = try extraction.problem(zip(("a/b.zip", evil)), policy(1))
        #expect(problem?.code == .unsafeEntry)
        #expect(problem?.entry == Array("a/b.zip/../../evil".utf8))
        #expect(try extraction.outside().isEmpty)
    }
}

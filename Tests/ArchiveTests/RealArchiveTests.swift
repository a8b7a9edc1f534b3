import Archive
import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Archives made by other programs.
@Suite struct RealArchiveTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    /// A command that makes `archive` of what lies in the current folder.
    struct Recipe: Sendable, CustomTestStringConvertible {
        let program: String
        let arguments: [String]
        let format: ArchiveFormat
        var testDescription: String { "\(program) \(arguments.joined(separator: " "))" }

        init(_ line: String, _ format: ArchiveFormat) {
            let words = line.split(separator: " ").map(String.init)
            program = words[0]
            arguments = Array(words.dropFirst())
            self.format = format
        }

        /// Those whose program this machine has; tar is always there.
        static let available = all.filter { Tool.find($0.program) != nil }

        private static let all: [Recipe] = [
            Recipe("tar -cf ../archive .", .container(.tar)),
            Recipe("tar --format=v7 -cf ../archive .", .container(.tar)),
            Recipe("tar --format=pax -cf ../archive .", .container(.tar)),
            Recipe("tar -czf ../archive .", .compressed(.gzip)),
            Recipe("tar -cjf ../archive .", .compressed(.bzip2)),
            Recipe("tar -cJf ../archive .", .compressed(.xz)),
            Recipe("tar --zstd -cf ../archive .", .compressed(.zstd)),
            Recipe("bsdtar --format=zip -cf ../archive .", .container(.zip)),
            Recipe("bsdtar --format=7zip -cf ../archive .", .container(.sevenZip)),
            Recipe("bsdtar --format=cpio -cf ../archive .", .container(.cpio)),
            Recipe("bsdtar --format=newc -cf ../archive .", .container(.cpio)),
            Recipe("bsdtar --format=newc -czf ../archive .", .compressed(.gzip)),
            Recipe("bsdtar --format=xar -cf ../archive .", .container(.xar)),
            Recipe("bsdtar --format=iso9660 -cf ../archive .", .container(.iso)),
            Recipe("bsdtar --format=ustar --lz4 -cf ../archive .", .compressed(.lz4)),
            Recipe("bsdtar --format=ustar --lzma -cf ../archive .", .compressed(.lzma)),
            Recipe("bsdtar --format=ustar --compress -cf ../archive .", .compressed(.compress)),
            Recipe("zip -q -r ../archive.zip .", .container(.zip)),
            Recipe("7z a -bd ../archive.7z .", .container(.sevenZip)),
            Recipe("7z a -bd -tzip ../archive.zip .", .container(.zip)),
        ]
    }

    @Test(arguments: Recipe.available)
    func contentsComeOutAsTheyWentIn(recipe: Recipe) throws {
        let scratch = extraction.scratch
        try scratch.write("one", to: "in/one.txt")
        try scratch.write(String(repeating: "two ", count: 100_000), to: "in/folder/deep/two.txt")
        try scratch.write("", to: "in/folder/empty")
        let tool = try #require(Tool.find(recipe.program))
        let output = try tool.run(recipe.arguments, in: scratch.path("in"))
        try #require(output.status == 0, "\(output.text)")
        let name = try #require(try Folder.names(in: scratch.path).first { $0.text.hasPrefix("archive") })
        let source = try OpenFile.open(scratch.path(name), O_RDONLY)
        #expect(try ArchiveSniff.look(at: source.descriptor).format == recipe.format)
        try extraction.extract(scratch.path(name))
        #expect(try extraction.tree() == scratch.tree("in"))
        #expect(try scratch.text("out/one.txt") == "one")
        #expect(try scratch.read("out/folder/deep/two.txt") == scratch.read("in/folder/deep/two.txt"))
    }

    @Test(.enabled(if: Tool.find("ar") != nil, Comment(rawValue: Tool.skip("ar"))))
    func ar() throws {
        let scratch = extraction.scratch
        try scratch.write("one", to: "one.txt")
        try #require(try Tool.find("ar")?.run(["rc", "archive", "one.txt"], in: scratch.path).status == 0)
        try extraction.extract(scratch.path("archive"))
        #expect(try extraction.tree() == ["one.txt"])
    }

    @Test(
        .enabled(if: Tool.find("7z") != nil, Comment(rawValue: Tool.skip("7z"))),
        arguments: ["-p1", "-p1 -mhe=on", "-tzip -p1"])
    func encrypted(options: String) throws {
        let scratch = extraction.scratch
        try scratch.write("secret", to: "one.txt")
        let arguments = ["a", "-bd"] + options.split(separator: " ").map(String.init) + ["archive.x", "one.txt"]
        try #require(try Tool.find("7z")?.run(arguments, in: scratch.path).status == 0)
        let problem = try extraction.problem(try scratch.read("archive.x"))
        #expect(problem?.code == .encrypted)
    }
}

import Archive
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What is kept of an archive.
@Suite struct ExtractionTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    @Test func modesAndTimes() throws {
        var tar = TarBuilder()
        tar.add("d/", .folder, mode: 0o751, modified: 1_000_000_000)
        tar.add("d/run", content: "x", mode: 0o755, modified: 1_000_000_001)
        tar.add("d/secret", content: "x", mode: 0o600)
        tar.add("d/none", content: "x", mode: 0)
        tar.add("shared/", .folder, mode: 0o2775)
        tar.add("link", .symbolicLink, target: "d/run", modified: 1_000_000_002)
        try extraction.extract(tar.finished)
        #expect(try extraction.status("d").st_mode & 0o7777 == 0o751)
        #expect(try extraction.status("d").st_mtim.tv_sec == 1_000_000_000)
        #expect(try extraction.status("d/run").st_mode & 0o7777 == 0o755)
        #expect(try extraction.status("d/run").st_mtim.tv_sec == 1_000_000_001)
        #expect(try extraction.status("d/secret").st_mode & 0o7777 == 0o600)
        #expect(try extraction.status("d/none").st_mode & 0o7777 == 0o400)
        #expect(try extraction.status("shared").st_mode & 0o7777 == 0o775)
        #expect(try extraction.status("link").st_mtim.tv_sec == 1_000_000_002)
    }

    @Test func theTopFolderIsNotItsOwnersAlone() throws {
        _ = extraction.folder.withPlatformString { chmod($0, 0o700) }
        let plain = try extraction.scratch.makeFolder("plain")
        var tar = TarBuilder()
        tar.add("a", content: "x")
        try extraction.extract(tar.finished)
        var status = stat()
        try #require(plain.withPlatformString { lstat($0, &status) } == 0)
        #expect(try extraction.status(".").st_mode == status.st_mode)
    }

    @Test func theTopFolderMayBeAnEntry() throws {
        var tar = TarBuilder()
        tar.add("./", .folder, mode: 0o750, modified: 1_000_000_000)
        tar.add("./a", content: "x")
        try extraction.extract(tar.finished)
        #expect(try extraction.status(".").st_mode & 0o7777 == 0o750)
        #expect(try extraction.status(".").st_mtim.tv_sec == 1_000_000_000)
        #expect(try extraction.tree() == ["a"])
    }

    @Test func namesAreBytes() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 255)
        let names: [[UInt8]] = [
            Array("V".utf8) + [0xED] + Array("ctor.txt".utf8), Array("line\nbreak".utf8), Array("-rf".utf8),
            Array("back\\slash".utf8), Array("Grüße".utf8), Array(" ".utf8),
        ]
        var tar = TarBuilder()
        for name in names { tar.add(name, content: [1]) }
        try extraction.extract(tar.finished)
        #expect(try Set(FileTree.list(extraction.folder).files.map(\.bytes)) == Set(names))

        let other = try Extraction()
        var zip = ZipBuilder()
        let zipped = names.filter { !$0.contains(UInt8(ascii: "\\")) } + [long]
        for name in zipped { zip.add(name, content: [1]) }
        try other.extract(zip.finished)
        #expect(try Set(FileTree.list(other.folder).files.map(\.bytes)) == Set(zipped))
    }

    @Test func namesInUTF8WithoutALocale() throws {
        var zip = ZipBuilder()
        zip.add(Array("Grüße/日本.txt".utf8), content: [1], flags: 0x800)
        try extraction.extract(zip.finished)
        #expect(try FileTree.list(extraction.folder).files.map(\.bytes) == [Array("Grüße/日本.txt".utf8)])
    }

    @Test func aLaterEntryOfOneNameCounts() throws {
        var tar = TarBuilder()
        tar.add("a", content: "first")
        tar.add("b", .hardLink, target: "a")
        tar.add("a", content: "second, and longer")
        tar.add("l", .symbolicLink, target: "a")
        tar.add("l", .symbolicLink, target: "b")
        try extraction.extract(tar.finished)
        #expect(try extraction.scratch.text("out/a") == "second, and longer")
        #expect(try extraction.scratch.text("out/b") == "first")
        #expect(try extraction.tree() == ["a", "b", "l -> b"])
    }

    @Test func linksInside() throws {
        var tar = TarBuilder()
        tar.add("a/file", content: "x")
        tar.add("b/c/soft", .symbolicLink, target: "../../a/file")
        tar.add("b/c/hard", .hardLink, target: "a/file")
        tar.add("to-folder", .symbolicLink, target: "a")
        tar.add("dangling", .symbolicLink, target: "not/there")
        try extraction.extract(tar.finished)
        #expect(try extraction.scratch.text("out/b/c/soft") == "x")
        #expect(try extraction.status("b/c/hard").st_ino == extraction.status("a/file").st_ino)
        #expect(try extraction.scratch.text("out/to-folder/file") == "x")
    }

    @Test func sparseFilesKeepTheirHoles() throws {
        guard let tar = Tool.find("tar") else { return }
        let path = extraction.scratch.path("sparse")
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT, mode: 0o644)
        try file.write(Array("begin".utf8))
        try #require(ftruncate(file.descriptor, 8 << 20) == 0)
        try file.close()
        let output = try tar.run(["--sparse", "-cf", "archive.tar", "sparse"], in: extraction.scratch.path)
        try #require(output.status == 0, "\(output.text)")
        try extraction.extract(extraction.scratch.path("archive.tar"))
        #expect(try extraction.status("sparse").st_size == 8 << 20)
        #expect(try extraction.status("sparse").st_blocks < 1024)
    }

    @Test func aLoneCompressedFile() throws {
        guard let gzip = Tool.find("gzip") else { return }
        let path = try extraction.scratch.write("a,b\n1,2\n", to: "report.csv")
        try #require(try gzip.run(["-n", path.string]).status == 0)
        try extraction.extract(extraction.scratch.path("report.csv.gz"))
        #expect(try extraction.tree() == ["lone"])
        #expect(try extraction.scratch.text("out/lone") == "a,b\n1,2\n")
        #expect(try extraction.status("lone").st_mode & 0o777 == 0o640)
        #expect(try extraction.status("lone").st_mtim.tv_sec == 99)
    }
}

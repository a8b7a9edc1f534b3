import Archive
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What is kept of an archive.
@Suite struct ExtractionTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    /// What the archive says of modes is not taken, but for the right to be run where that is wanted.
    @Test(arguments: [
        (UInt32(0o755), false, mode_t(0o755), mode_t(0o644), mode_t(0o644)),
        (0o755, true, 0o755, 0o755, 0o644), (0o750, true, 0o750, 0o750, 0o640), (0o700, false, 0o700, 0o600, 0o600),
        (0, false, 0o700, 0o400, 0o400),
    ])
    func modes(mask: UInt32, executable: Bool, folder: mode_t, program: mode_t, plain: mode_t) throws {
        let umask = Glibc.umask(0)
        Glibc.umask(umask)
        var tar = TarBuilder()
        tar.add("d/", .folder, mode: 0o777)
        tar.add("d/run", content: "x", mode: 0o777)
        tar.add("d/plain", content: "x", mode: 0o666)
        tar.add("d/none", content: "x", mode: 0)
        tar.add("shared/", .folder, mode: 0o2775)
        var policy = Extraction.policy
        policy.mode = mask
        policy.keepsExecutable = executable
        try extraction.extract(tar.finished, policy)
        for name in ["d", "shared"] {
            #expect(try extraction.status(name).st_mode & 0o7777 == folder & ~umask)
        }
        #expect(try extraction.status(".").st_mode & 0o7777 == folder & ~umask)
        #expect(try extraction.status("d/run").st_mode & 0o7777 == program & ~umask)
        #expect(try extraction.status("d/plain").st_mode & 0o7777 == plain & ~umask)
        #expect(try extraction.status("d/none").st_mode & 0o7777 == plain & ~umask)
    }

    @Test func times() throws {
        var tar = TarBuilder()
        tar.add("d/", .folder, mode: 0o751, modified: 1_000_000_000)
        tar.add("d/run", content: "x", modified: 1_000_000_001)
        tar.add("future", content: "x", modified: 4_000_000_000)
        try extraction.extract(tar.finished)
        #expect(try extraction.status("d").st_mtim.tv_sec == 1_000_000_000)
        #expect(try extraction.status("d/run").st_mtim.tv_sec == 1_000_000_001)
        #expect(try extraction.status("future").st_mtim.tv_sec <= time(nil))
    }

    @Test func theTopFolderMayBeAnEntry() throws {
        var tar = TarBuilder()
        tar.add("./", .folder, mode: 0o750, modified: 1_000_000_000)
        tar.add("./a", content: "x")
        try extraction.extract(tar.finished)
        #expect(try extraction.status(".").st_mtim.tv_sec == 1_000_000_000)
        #expect(try extraction.tree() == ["a"])
    }

    @Test func namesAreBytes() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 255)
        let names: [[UInt8]] = [
            Array("V".utf8) + [0xED] + Array("ctor.txt".utf8), Array("-rf".utf8),
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
        var oddity = ZipBuilder.Oddity()
        oddity.flags = 0x800
        zip.add(Array("Grüße/日本.txt".utf8), content: [1], oddity)
        try extraction.extract(zip.finished)
        #expect(try FileTree.list(extraction.folder).files.map(\.bytes) == [Array("Grüße/日本.txt".utf8)])
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
        #expect(try extraction.status("lone").st_mtim.tv_sec == 99)
    }
}

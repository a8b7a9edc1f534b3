import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Every file in `pipelines` but the quickstart (which `make demo` shows), run by the real program on what it is for.
@Suite(.serialized) struct ShippedPipelineTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Runs one pipeline on what is in its inbox; returns the exit status.
    private func run(_ name: String) throws -> Int32 {
        let file = ScenarioRunner.samples.removingLastComponent().appending("pipelines").appending("\(name).yaml")
        var process = try DropmillProcess(
            ["run", "--once", file.string, "--state", scratch.path("state").string], in: scratch.path,
            log: scratch.path("log"), wrapper: ["/usr/bin/env", "DROPMILL_ROOT=\(scratch.path.string)"])
        return try process.wait()
    }

    /// What the program said.
    private var log: String {
        do throws(IOError) { return try scratch.text("log") } catch { return "\(error)" }
    }

    @Test func archivesThatFitTheirList() throws {
        var good = ZipBuilder()
        good.add("a", content: "abc")
        good.add(
            "SHA256SUMS", content: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n")
        try scratch.write(good.finished, to: scratch.path("archive-intake/inbox/good.zip"))
        var bad = ZipBuilder()
        bad.add("a", content: "abd")
        bad.add("a.md5", content: "900150983cd24fb0d6963f7d28e17f72\n")
        try scratch.write(bad.finished, to: scratch.path("archive-intake/inbox/bad.zip"))
        #expect(try run("archive-intake") == 1, "\(log)")
        let accepted = try scratch.tree("archive-intake/accepted")
        #expect(accepted.count { $0.hasSuffix("/good/a") } == 1)
        #expect(try scratch.text("archive-intake/failed/bad.zip.error.json").contains("differs: a"))
    }

    @Test func filesWithMarkers() throws {
        try scratch.write("a;b\n1;2\n", to: "csv-drop/inbox/orders.csv")
        try scratch.write("", to: "csv-drop/inbox/orders.csv.done")
        try scratch.write("not complete yet", to: "csv-drop/inbox/later.csv")
        #expect(try run("csv-drop") == 0, "\(log)")
        #expect(scratch.exists("csv-drop/import/orders.csv"))
        #expect(scratch.exists("csv-drop/inbox/later.csv"))
        #expect(try scratch.tree("csv-drop/archive").contains { $0.hasSuffix("orders.csv") })
    }

    @Test(.enabled(if: Tool.find("gs") != nil, "needs Ghostscript; packaging/install-build-deps.sh --test installs it"))
    func printing() throws {
        try scratch.write(
            "%!PS\n/Courier findfont 20 scalefont setfont 72 72 moveto (Hello) show showpage\n",
            to: "print/inbox/page.ps")
        try scratch.write("no page", to: "print/inbox/note.txt")
        // Names that Ghostscript would take for orders, did it get them.
        let odd = ["10%d.ps", "-dash.ps", "%pipe%touch owned .ps"]
        for name in odd { try scratch.write("%!PS\nshowpage\n", to: "print/inbox/\(name)") }
        #expect(try run("print") == 1, "\(log)")
        for name in odd { #expect(scratch.exists("print/queue/\(name.dropLast(3)).pdf"), "\(log)") }
        #expect(!(try scratch.tree()).contains { $0.hasSuffix("owned") })
        #expect(try Folder.names(in: scratch.path("print/queue")).count == odd.count + 1)
        #expect(try scratch.text("print/queue/page.pdf").hasPrefix("%PDF-"))
        #expect(scratch.exists("print/failed/note.txt"))
    }

    @Test func photosOnce() throws {
        let image = try ScratchFolder.read(ScenarioRunner.samples.appending("photos.zip"))
        try scratch.write(image, to: scratch.path("photos/inbox/album.zip"))
        let png: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [
                0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0,
            ]
        try scratch.write(png, to: scratch.path("photos/inbox/one.png"))
        try scratch.write(png, to: scratch.path("photos/inbox/same.png"))
        #expect(try run("photos") == 1, "\(log)")
        let album = try scratch.tree("photos/album").filter { $0.hasSuffix(".png") }
        #expect(album.count == 1)
        #expect(scratch.exists("photos/failed/album.zip"))
        #expect(try Folder.names(in: scratch.path("photos/done")).count == 1)
    }

    @Test func bags() throws {
        try scratch.write("abc", to: "bagit/inbox/letter.txt")
        var bag = ZipBuilder()
        bag.add("bagit.txt", content: "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
        bag.add("manifest-md5.txt", content: "900150983cd24fb0d6963f7d28e17f72  data/a\n")
        bag.add("data/a", content: "abc")
        try scratch.write(bag.finished, to: scratch.path("bagit/inbox/old.bag.zip"))
        #expect(try run("bagit") == 0, "\(log)")
        #expect(try scratch.text("bagit/store/letter/data/letter.txt") == "abc")
        #expect(try scratch.text("bagit/store/old.bag/data/a") == "abc", "a bag is not put into another")
    }

    /// What can be run is refused, whatever it is called.
    @Test func programsAreRefused() throws {
        let folder = ScenarioRunner.samples.removingLastComponent().pushing("pipelines/upload.yaml")
        let text = String(decoding: try ScratchFolder.read(folder), as: UTF8.self)
        let detect = try #require(text.firstRange(of: "  - detect:"))
        let move = try #require(text.firstRange(of: "  - move:"))
        let pipeline =
            "inbox: inbox\nprocessed: done\nfailed: failed\nready: { quiet: 200ms }\nstages:\n"
            + text[detect.lowerBound..<move.lowerBound]
        try scratch.write(pipeline, to: "programs.yaml")
        try scratch.write(ScratchFolder.read("/bin/ls"), to: scratch.path("inbox/ls.txt"))
        // The headers of a Windows program.
        var windows = [UInt8](repeating: 0, count: 512)
        windows.replaceSubrange(0..<2, with: Array("MZ".utf8))
        windows[0x3C] = 0x80
        windows.replaceSubrange(
            0x80..<0x98,
            with: Array("PE\0\0".utf8) + [0x64, 0x86, 1] + [UInt8](repeating: 0, count: 13) + [0xF0, 0, 0x22, 0])
        windows.replaceSubrange(0x98..<0x9A, with: [0x0B, 0x02])
        try scratch.write(windows, to: scratch.path("inbox/setup.txt"))
        try scratch.write("harmless", to: "inbox/note.txt")
        var process = try DropmillProcess(
            ["run", "--once", scratch.path("programs.yaml").string, "--state", scratch.path("state").string],
            in: scratch.path, log: scratch.path("log"))
        #expect(try process.wait() == 1)
        #expect(try Folder.names(in: scratch.path("done")).map(\.text) == ["note.txt"], "\(log)")
    }

    @Test func uploadsWaitForTheScanner() throws {
        try scratch.write("hello", to: "upload/inbox/note.txt")
        let socket = scratch.path("no-clamd").string
        let file = ScenarioRunner.samples.removingLastComponent().pushing("pipelines/upload.yaml")
        var process = try DropmillProcess(
            ["run", "--once", file.string, "--state", scratch.path("state").string], in: scratch.path,
            log: scratch.path("log"),
            wrapper: ["/usr/bin/env", "DROPMILL_ROOT=\(scratch.path.string)", "CLAMD_SOCKET=\(socket)"])
        #expect(try process.wait() == 1)
        #expect(log.contains("scan.clamd"), "\(log)")
        #expect(!scratch.exists("upload/clean/note.txt"), "nobody sees what was not looked at")
    }

    @Test func logsAreKept() throws {
        try scratch.write("line\n", to: "logs/inbox/app.log.1")
        try scratch.write("still written to\n", to: "logs/inbox/app.log")
        #expect(try run("logs") == 0, "\(log)")
        let kept = try scratch.tree("logs/kept")
        #expect(kept.contains { $0.hasSuffix("/app.log.1.zst") })
        #expect(kept.contains { $0.hasSuffix("/app.log.1.zst.sha256") })
        #expect(scratch.exists("logs/inbox/app.log"))
    }
}

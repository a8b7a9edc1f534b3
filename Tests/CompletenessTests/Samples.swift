import Glibc
import SystemPackage
import TestSupport

/// Files that other programs made: small ones, of which every prefix is looked at, and larger ones.
struct Sample: Sendable {
    let name: String
    /// A shell's command that makes the file of that name; `$n` is how much it is to hold, `./text` and `./noise` are
    /// files of that many bytes, `./folder` holds both and more.
    let command: String
    /// The programs that it needs besides those of every system.
    let tools: [String]
    /// How many cuts behind its first bytes its format does not see; nil for any number: what only fills it up.
    let seams: Int?

    /// How many of them it does not see where the file keeps its length, and zeros are what is missing; nil for any
    /// number: formats that say how long their data is, and nothing of what it is. Some end with a checksum or a
    /// remark, which is not compared.
    var unwritten: Int? { ["tar", "zstd", "MP4", "RIFF", "TIFF"].contains(format.row) ? nil : seams.map { $0 + 5 } }

    /// How much a small and a large one hold.
    static let sizes = (small: 300, large: 300_000)

    init(_ name: String, _ command: String, _ tools: [String] = [], seams: Int? = 0) {
        self.name = name
        self.command = command
        self.tools = tools
        self.seams = seams
    }

    /// What docs/readiness.md calls its format, and by how many bytes it is known.
    var format: (row: String, head: Int) {
        switch name.prefix(while: { $0 != "," }) {
        case "zip": ("zip", 4)
        case "7z": ("7z", 6)
        case "gzip": ("gzip", 3)
        case "xz": ("xz", 6)
        case "zstd": ("zstd", 4)
        case "bzip2": ("bzip2", 10)
        case "tar": ("tar", 512)
        case "PDF": ("PDF", 5)
        case "PNG": ("PNG", 8)
        case "JPEG": ("JPEG", 3)
        case "MP4", "QuickTime", "HEIC", "AVIF": ("MP4", 8)
        case "WAV", "AVI", "WebP": ("RIFF", 12)
        case "TIFF": ("TIFF", 4)
        case "XML": ("XML", 5)
        default: ("JSON", 2)
        }
    }

    private static let film = "ffmpeg -v error -y -f lavfi -i testsrc=size=${p}x$p:rate=5 -t $t"
    private static let sound = "ffmpeg -v error -y -f lavfi -i sine=440 -t $t -ar 8000"
    private static func picture(_ rest: String) -> String { "convert -size ${s}x$s plasma:red-blue \(rest)" }

    static let all: [Sample] = [
        Sample("zip", "zip -q a.zip -r folder && mv a.zip zip", ["zip"]),
        Sample(
            "zip, a comment", "zip -q a.zip -r folder && echo hello | zip -qz a.zip && mv a.zip 'zip, a comment'",
            ["zip"]),
        Sample(
            "zip, stored zips", "zip -q in.zip text && zip -q0 a.zip in.zip text && mv a.zip 'zip, stored zips'",
            ["zip"]),
        Sample("zip, from a pipe", "zip -q - - <text >'zip, from a pipe'", ["zip"]),
        Sample("7z", "7z a -bd a.7z folder >/dev/null && mv a.7z 7z", ["7z"]),
        Sample("gzip", "gzip -c text >gzip"),
        Sample("gzip, noise", "gzip -c noise >'gzip, noise'"),
        Sample("gzip, two members", "(gzip -c text; gzip -c noise) >'gzip, two members'", seams: 1),
        Sample("xz", "xz -c text >xz", ["xz"]),
        Sample("xz, blocks", "xz --block-size=1000 -c noise >'xz, blocks'", ["xz"]),
        Sample("xz, two streams", "(xz -c text; xz -c noise) >'xz, two streams'", ["xz"], seams: 1),
        Sample("zstd", "zstd -qc text >zstd", ["zstd"]),
        Sample("zstd, noise", "zstd -qc --no-check noise >'zstd, noise'", ["zstd"]),
        Sample("zstd, two frames", "(zstd -qc text; zstd -qc noise) >'zstd, two frames'", ["zstd"], seams: 1),
        Sample("bzip2", "bzip2 -c text >bzip2", ["bzip2"]),
        Sample("bzip2, noise", "bzip2 -1c noise >'bzip2, noise'", ["bzip2"]),
        Sample("tar", "tar cf tar folder", seams: nil),
        Sample("tar, ustar, no filling", "tar cf 'tar, ustar, no filling' --format=ustar -b1 folder"),
        Sample("tar, pax", "tar cf 'tar, pax' --format=pax -b2 folder", seams: nil),
        Sample(
            "tar, sparse", "truncate -s 1M s && cat text >>s && tar cSf 'tar, sparse' -b2 s", seams: nil),
        Sample("PDF", "sh pdf >PDF", seams: 1),
        Sample("PDF, by Ghostscript", "gs -q -o 'PDF, by Ghostscript' -sDEVICE=pdfwrite page.ps", ["gs"], seams: 1),
        Sample(
            "PDF, linearised", "gs -q -o 'PDF, linearised' -dFastWebView=true -sDEVICE=pdfwrite page.ps", ["gs"],
            seams: 1),
        Sample("PNG", picture("png:PNG"), ["convert"]),
        Sample("JPEG", picture("jpg:JPEG"), ["convert"]),
        Sample("JPEG, progressive", picture("-interlace JPEG 'jpg:JPEG, progressive'"), ["convert"]),
        Sample("MP4", "\(film) -f mp4 MP4", ["ffmpeg"]),
        Sample("MP4, movie first", "\(film) -movflags faststart -f mp4 'MP4, movie first'", ["ffmpeg"]),
        Sample(
            "MP4, fragments", "\(film) -movflags frag_keyframe+empty_moov -g 5 -f mp4 'MP4, fragments'", ["ffmpeg"],
            seams: nil),
        Sample("QuickTime", "\(film) -c:v mjpeg -f mov QuickTime", ["ffmpeg"]),
        Sample("HEIC", picture("heic:HEIC"), ["convert"]),
        Sample("AVIF", picture("avif:AVIF"), ["convert"]),
        Sample("WAV", "\(sound) -f wav WAV", ["ffmpeg"]),
        Sample("AVI", "\(film) -c:v mjpeg -f avi AVI", ["ffmpeg"]),
        Sample("WebP", picture("webp:WebP"), ["convert"]),
        Sample("TIFF", picture("-compress none tif:TIFF"), ["convert"]),
        Sample("TIFF, strips", picture("-compress lzw -define tiff:rows-per-strip=2 'tif:TIFF, strips'"), ["convert"]),
        Sample("XML", "python3 make.py xml", ["python3"]),
        Sample("XML, by hand", "cp xml 'XML, by hand'", seams: 1),
        Sample("JSON", "python3 make.py json >JSON", ["python3"], seams: 1),
        Sample("JSON, lines", "python3 make.py lines >'JSON, lines'", ["python3"], seams: 3),
    ]

    /// Makes it; nil where a program for it is not to be had.
    func make(in scratch: ScratchFolder, _ size: Int) throws -> [UInt8]? {
        guard tools.allSatisfy({ Tool.find($0) != nil }), let shell = Tool.find("sh") else { return nil }
        try Self.prepare(scratch, size)
        let side = size < 1000 ? 12 : 300, seconds = size < 1000 ? "0.4" : "40", pixels = size < 1000 ? 16 : 64
        let output = try shell.run(
            ["-ec", "n=\(size); s=\(side); t=\(seconds); p=\(pixels); \(command)"], in: scratch.path)
        guard output.status == 0 else { throw SampleError(text: "\(name): \(output.text)") }
        return try scratch.read(name)
    }

    private static func prepare(_ scratch: ScratchFolder, _ size: Int) throws {
        var generator = SeededGenerator(seed: 7)
        let noise = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let words = (0..<size / 6).map { _ in "word\(UInt8.random(in: 0...9, using: &generator)) " }
        for folder in ["", "folder/", "folder/in/"] {
            try scratch.write(noise, to: scratch.path(folder + "noise"))
            try scratch.write(words.joined(), to: folder + "text")
        }
        let count = max(2, size / 100)
        let elements = (0..<count).map { "<a b='>\($0)'><c/><![CDATA[</a>]]>text &amp; more<?p ?></a>\n" }.joined()
        try scratch.write(
            #"<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e "<x>"> <!-- don't -->]><!-- <b> --><a>"#
                + "\n\(elements)</a>\n",
            to: "xml")
        try scratch.write(
            """
            import json, sys, xml.etree.ElementTree as tree
            item = {"a]": [1, -1.5e3, True, None, "}" + chr(34) + chr(92)], "c": {}, "d": []}
            if sys.argv[1] == "json":
                print(json.dumps({"list": [item] * \(count), "end": {}}))
            elif sys.argv[1] == "lines":
                for _ in range(2): print(json.dumps([item] * \(count)))
            else:
                root = tree.Element("root")
                for place in range(\(count)): tree.SubElement(root, "a", {"b": ">/<"}).text = "<text>"
                tree.SubElement(root, "empty")
                tree.ElementTree(root).write("XML", xml_declaration=True, encoding="utf-8")
            """, to: "make.py")
        try scratch.write(
            "%!PS\n/Helvetica 12 selectfont 20 20 moveto (\(words.prefix(40).joined())) show showpage\n"
                + (0..<(size < 1000 ? 0 : 40)).map { "20 \($0) moveto (page) show showpage\n" }.joined(), to: "page.ps")
        try scratch.write(Self.pdf(words.joined()), to: "pdf")
    }

    /// A script that writes a PDF by hand.
    private static func pdf(_ text: String) -> String {
        let objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 0/Kids[]>>", "(\(text))"]
        var pdf = "%PDF-1.4\n"
        var places: [String] = []
        for (index, object) in objects.enumerated() {
            places.append(String(String(10_000_000_000 + pdf.utf8.count).dropFirst()))
            pdf += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let table = pdf.utf8.count
        pdf += "xref\n0 4\n0000000000 65535 f \n" + places.map { "\($0) 00000 n \n" }.joined()
        pdf += "trailer\n<</Size 4/Root 1 0 R>>\nstartxref\n\(table)\n%%EOF\n"
        return "cat <<'END'\n\(pdf.dropLast())\nEND\n"
    }
}

struct SampleError: Error { let text: String }

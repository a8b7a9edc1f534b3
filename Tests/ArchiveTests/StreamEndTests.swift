import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// Compressed streams may follow one another; whatever else follows them is damage, and nothing of it is lost in
/// silence. libarchive takes what it does not know for the end.
@Suite struct StreamEndTests {
    /// How a stream is made, and whether several may follow one another.
    struct Kind: Sendable, CustomTestStringConvertible {
        let command: String
        let ending: String
        var takesSeveral = true
        var testDescription: String { command }
    }

    static let kinds = [
        Kind(command: "gzip -n", ending: "gz"), Kind(command: "bzip2", ending: "bz2"),
        Kind(command: "xz", ending: "xz"), Kind(command: "zstd -q --check", ending: "zst"),
        Kind(command: "lz4 -q -m", ending: "lz4"),
        Kind(command: "xz --format=lzma", ending: "lzma", takesSeveral: false),
    ].filter { Tool.find(String($0.command.prefix { $0 != " " })) != nil }

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func compressed(_ text: String, _ kind: Kind, _ name: String) throws -> [UInt8] {
        let path = try scratch.write(text, to: name)
        let words = kind.command.split(separator: " ").map(String.init)
        let tool = try #require(Tool.find(words[0]))
        try #require(try tool.run(Array(words.dropFirst()) + [path.string]).status == 0)
        return try scratch.read("\(name).\(kind.ending)")
    }

    private func content(_ bytes: [UInt8]) throws -> String? {
        let extraction = try Extraction()
        return try extraction.problem(bytes) == nil ? try extraction.scratch.text("out/lone") : nil
    }

    @Test(arguments: kinds)
    func whatFollows(kind: Kind) throws {
        let first = try compressed(String(repeating: "first ", count: 500), kind, "one")
        let second = try compressed(String(repeating: "second ", count: 400), kind, "two")
        let whole = try #require(try content(first))
        if kind.takesSeveral {
            #expect(try content(first + second) == whole + String(repeating: "second ", count: 400))
        } else {
            #expect(try content(first + second) == nil)
        }
        for junk in ["x", "junk", String(repeating: "junk", count: 30)] {
            #expect(try content(first + Array(junk.utf8)) == nil, "\(junk.utf8.count) bytes behind it")
        }
        for cut in [1, 2, 3, 5, 9, 11, second.count / 2, second.count - 1] {
            #expect(try content(first + second.prefix(cut)) == nil, "a second one cut to \(cut) bytes")
        }
        for place in 0..<4 {
            for bit in 0..<8 {
                var damaged = second
                damaged[place] ^= 1 << UInt8(bit)
                let found = try content(first + damaged)
                // Some bits of a mark choose the size of blocks.
                let isWhole = found == whole + String(repeating: "second ", count: 400)
                #expect(found == nil || isWhole, "bit \(bit) of byte \(place)")
            }
        }
    }

    /// One layer comes off. This one is read by bidding, which would take off all.
    @Test(.enabled(if: Tool.find("bsdtar") != nil, Comment(rawValue: Tool.skip("bsdtar"))))
    func layersOfZ() throws {
        // The codes of LZW for `ab` and `\x1F\x9D\x90abc`, nine bits each, lowest first (compress(1)).
        func packed(_ bytes: [UInt8]) -> [UInt8] {
            var bits: [UInt8] = []
            for byte in bytes { for index in 0..<9 { bits.append(index < 8 ? byte >> UInt8(index) & 1 : 0) } }
            while bits.count % 8 != 0 { bits.append(0) }
            let codes = stride(from: 0, to: bits.count, by: 8).map { start in
                (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << UInt8($1) }
            }
            return [0x1F, 0x9D, 0x90] + codes
        }
        let once = packed(Array("plain".utf8))
        #expect(try content(once) == "plain")
        #expect(try Extraction().problem(packed(once))?.fact == "is compressed more than once")
    }

    /// A file that unpacks to itself: one layer comes off, or as many as `nested` says.
    @Test(arguments: [0, 1, 3])
    func aQuine(nested: Int) throws {
        let quine = try #require(GzipQuine.bytes)
        let extraction = try Extraction()
        var policy = Extraction.policy
        policy.nested = nested
        let report = try extraction.extract(quine, policy)
        #expect(try extraction.scratch.read("out/lone") == quine)
        #expect(report.nested == Int64(nested))
        #expect(report.bytes == Int64(quine.count * (nested + 1)))
    }

    /// What ends a tar must be there, and not only as long as it is.
    @Test func headersWithoutAnEntry() throws {
        func tar(_ ending: [UInt8]) -> [UInt8] {
            var tar = TarBuilder()
            tar.add("a", content: "x")
            return tar.bytes + ending
        }
        let header = TarBuilder.globalHeader
        let zeros = [UInt8](repeating: 0, count: 512)
        #expect(try Extraction().problem(tar(header + zeros + zeros)) == nil)
        for ending in [header, header + zeros, header + header, zeros, zeros + header] {
            #expect(try Extraction().problem(tar(ending))?.code == .damaged)
        }
    }

    @Test(.enabled(if: Tool.find("bsdtar") != nil, Comment(rawValue: Tool.skip("bsdtar"))), arguments: ["newc", "odc"])
    func twoCpios(format: String) throws {
        for name in ["a", "b"] {
            try scratch.write("content of \(name)", to: name)
            let made = try #require(Tool.find("bsdtar")).run(
                ["--format=\(format)", "-cf", "\(name).cpio", name], in: scratch.path)
            try #require(made.status == 0, "\(made.text)")
        }
        let (first, second) = (try scratch.read("a.cpio"), try scratch.read("b.cpio"))
        #expect(try Extraction().problem(first) == nil)
        #expect(try Extraction().problem(first + [UInt8](repeating: 0, count: 5000)) == nil)
        #expect(try Extraction().problem(first + second)?.code == .damaged)
        #expect(try Extraction().problem(first + [1])?.code == .damaged)
    }

    @Test func arCutWithinAHeader() throws {
        let first = ArBuilder.archive([("a/", "even")])
        let second = ArBuilder.member("b/", "more")
        #expect(try Extraction().problem(first + second) == nil)
        for cut in [1, 30, 59, 62] {
            #expect(try Extraction().problem(first + second.prefix(cut))?.code == .damaged, "cut to \(cut)")
        }
    }

    /// With `links: skip` the content is not lost that comes with a file's last name.
    @Test func contentThatComesWithALink() throws {
        let extraction = try Extraction()
        var policy = Extraction.policy
        policy.links = .skip
        let cpio = CpioBuilder.archive([("a", 7, 2, ""), ("b", 7, 2, "content"), ("c", 8, 1, "other")])
        let report = try extraction.extract(cpio, policy)
        #expect(try extraction.tree() == ["a", "c"])
        #expect(try extraction.scratch.text("out/a") == "content")
        #expect(report.skippedLinks == 1)
    }
}

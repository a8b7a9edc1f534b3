import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine

/// What a list needs so that it has some lines, each whole: decided by its content alone.
@Suite("List scan") struct ListScanTests {
    /// A line as `sha256sum` writes it, of a short digest.
    static func text(_ number: Int, name: String? = nil) -> ListText {
        let digest = String(number &* 0x9E37_79B9 & 0xFFFF_FFFF | 0x1_0000_0000, radix: 16).suffix(8)
        return ListText(start: [], digest: Array(digest.utf8), end: Array("  \(name ?? "file-\(number)")\n".utf8))
    }

    /// The list after what was decided, read in pieces, and whether anything was.
    private static func mended(
        _ list: [UInt8], _ wanted: [ListText], others: [[UInt8]] = [], replacing: Bool = false,
        rewriting: Bool = false, pieces: Int = .max
    ) -> (list: [UInt8], patches: [ListPatch], added: [UInt8]) {
        var scan = ListScan(for: wanted, others: others, replacing: replacing, rewriting: rewriting)
        var patches: [ListPatch] = []
        var rest = list[...]
        while !rest.isEmpty {
            Array(rest.prefix(pieces)).withUnsafeBytes { patches += scan.read($0) }
            rest = rest.dropFirst(pieces)
        }
        let mending = scan.mending()
        patches += mending.patches
        var mended = list
        for patch in patches {
            let start = Int(patch.offset)
            mended.replaceSubrange(start..<start + patch.bytes.count, with: patch.bytes)
        }
        return (mended + mending.added, patches, mending.added)
    }

    private static func lines(_ list: [UInt8]) -> [[UInt8]] {
        list.split(separator: 0x0A, omittingEmptySubsequences: false).map { $0 + [0x0A] }.dropLast()
    }

    /// The lines that sha256sum(1) reads.
    private static func read(_ list: [UInt8]) -> [[UInt8]] { lines(list).filter { $0.first != UInt8(ascii: "#") } }

    /// As many bytes as leave `count` to the end of a block.
    private static func filler(leaving count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "f"), count: 4096 - count - 1) + [0x0A]
    }

    private static let strangers = Array("a list\nabcd  theirs\n\nno digest at all\n".utf8)

    @Test("A write that was cut off at any byte is completed, whatever pieces it is read in")
    func tornAnywhere() {
        let wanted = (1...4).map { Self.text($0) }
        let whole = Self.strangers + wanted.flatMap(\.bytes)
        for end in Self.strangers.count...whole.count {
            for pieces in [1, 7, 64, .max] {
                let list = Self.mended(Array(whole.prefix(end)), wanted, pieces: pieces).list
                #expect(list == whole, "cut at \(end), in pieces of \(pieces)")
            }
        }
    }

    @Test("NULs in place of any end of a write become a comment, and its lines are there")
    func nulsAtTheEnd() {
        let wanted = (1...3).map { Self.text($0) }
        let whole = Self.strangers + wanted.flatMap(\.bytes)
        for end in Self.strangers.count..<whole.count {
            for count in [1, 2, 5, whole.count - end] {
                let nuls = Array(whole.prefix(end)) + [UInt8](repeating: 0, count: count)
                for pieces in [1, 13, .max] {
                    let list = Self.mended(nuls, wanted, pieces: pieces).list
                    #expect(!list.contains(0))
                    #expect(Self.read(list).sorted(by: <) == Self.lines(whole).sorted(by: <), "\(end), \(count) NULs")
                }
            }
        }
    }

    @Test("NULs up to the end of a block become a comment with the rest of their line, unless that is a whole one")
    func nulsWithin() {
        let wanted = (1...4).map { Self.text($0) }
        let written = wanted.flatMap(\.bytes)
        // The block ends at any place of what was written, and the NULs begin where that does.
        for count in 1..<written.count {
            let before = Self.filler(leaving: count)
            let damaged = before + [UInt8](repeating: 0, count: count) + written.dropFirst(count)
            for pieces in [1, 13, .max] {
                let list = Self.mended(damaged, wanted, pieces: pieces).list
                #expect(!list.contains(0))
                #expect(list.starts(with: before))
                #expect(Self.read(list).sorted(by: <) == Self.lines(before + written).sorted(by: <), "\(count)")
            }
        }
    }

    @Test("The same at the start of a block, within a line of ours or of others")
    func nulsInTheMiddle() {
        let wanted = (1...4).map { Self.text($0) }, other = Self.text(5)
        let written = wanted.flatMap(\.bytes)
        for text in [wanted[0].bytes, other.bytes] {
            let list =
                Self.filler(leaving: 5) + text.prefix(5) + [UInt8](repeating: 0, count: 1024)
                + Array("rest\n".utf8) + written.dropFirst(wanted[0].bytes.count)
            let mended = Self.mended(list, wanted).list
            #expect(!mended.contains(0))
            for line in wanted { #expect(Self.read(mended).count { $0 == line.bytes } == 1) }
        }
    }

    @Test("What is torn is completed as another job's line, and not taken for the end of a stranger's")
    func tornOfOthers() {
        let (ours, theirs) = (Self.text(1), Self.text(2))
        for end in 1..<theirs.bytes.count {
            let list = Self.strangers + theirs.bytes.prefix(end)
            let others = [theirs.bytes]
            #expect(Self.mended(list, [ours], others: others).list == Self.strangers + theirs.bytes + ours.bytes)
            #expect(Self.mended(list, [], others: others).list == Self.strangers + theirs.bytes)
        }
        let torn = Self.strangers + Array("somebody's".utf8)
        #expect(Self.mended(torn, [ours], others: [theirs.bytes]).list == torn + [0x0A] + ours.bytes)
        // Whole already, so that this is not the beginning of it.
        let again = theirs.bytes + theirs.bytes.prefix(5)
        #expect(Self.mended(again, [ours], others: [theirs.bytes]).list == again + [0x0A] + ours.bytes)
    }

    @Test("Lists of all kinds: no stranger's line is lost, each of ours is there once, and a second look finds nothing")
    func anything() {
        var random = SeededGenerator(seed: 20_261_123)
        for round in 0..<3_000 {
            var list: [UInt8] = []
            var strangers: [[UInt8]] = []
            let ours = (0..<Int.random(in: 0...5, using: &random)).map { Self.text(round &* 8 &+ $0) }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                if let text = ours.randomElement(using: &random), Bool.random(using: &random) {
                    if !Self.lines(list).contains(text.bytes) { list += text.bytes }
                } else {
                    let count = Int.random(in: 0...40, using: &random)
                    let line = (0..<count).map { _ in UInt8.random(in: 0x24...0x7E, using: &random) } + [0x0A]
                    strangers.append(line)
                    list += line
                }
            }
            // A write that was cut off, and perhaps lost its end as well.
            let missing = ours.filter { !Self.lines(list).contains($0.bytes) }
            let written = missing.flatMap(\.bytes)
            list += written.prefix(Int.random(in: 0...written.count, using: &random))
            if Bool.random(using: &random), !list.isEmpty {
                list += [UInt8](repeating: 0, count: Int.random(in: 2...50, using: &random))
            }
            let pieces = Int.random(in: 1...60, using: &random)
            let mended = Self.mended(list, ours, pieces: pieces).list
            #expect(mended.isEmpty || mended.last == 0x0A)
            #expect(!mended.contains(0))
            let lines = Self.read(mended)
            for text in ours { #expect(lines.count { $0 == text.bytes } == 1) }
            let others = lines.filter { line in !ours.contains { $0.bytes == line } }
            #expect(others == strangers)
            let again = Self.mended(mended, ours, pieces: pieces)
            #expect(again.list == mended && again.patches.isEmpty && again.added.isEmpty)
        }
    }

    @Test("With `replace` older lines of the same name become comments, and nothing else changes")
    func replacing() {
        let old = Self.text(1, name: "a"), new = Self.text(2, name: "a"), other = Self.text(3, name: "b")
        let similar = Array("  a\n12345678  a \nxxxxxxxx  a\n123456789  a\n".utf8)
        let last = Array("ABCDEF01  a\n".utf8)
        let list = old.bytes + similar + other.bytes + old.bytes + last
        let gone = [UInt8(ascii: "#")] + old.bytes.dropFirst()
        let lastGone = [UInt8(ascii: "#")] + last.dropFirst()
        #expect(
            Self.mended(list, [new], replacing: true).list
                == gone + similar + other.bytes + gone + lastGone + new.bytes)
        #expect(Self.mended(list, [new]).list == list + new.bytes)
        let kept = Self.mended(new.bytes + other.bytes, [new], replacing: true)
        #expect(kept.patches.isEmpty && kept.added.isEmpty)
    }

    @Test("A line of BSD's form is replaced by one of the same name and algorithm only")
    func replacingTagged() {
        func tagged(_ tag: String, _ digest: String) -> ListText {
            ListText(start: Array("\(tag) (a) = ".utf8), digest: Array(digest.utf8), end: [0x0A])
        }
        let list = tagged("MD5", "0123").bytes + tagged("SHA1", "4567").bytes
        let mended = Self.mended(list, [tagged("SHA1", "89ab")], replacing: true).list
        #expect(mended == tagged("MD5", "0123").bytes + Array("#HA1 (a) = 4567\n".utf8) + tagged("SHA1", "89ab").bytes)
    }

    @Test("In doubt a line that is there is written once more where it is")
    func rewriting() {
        let ours = (1...2).map { Self.text($0) }
        let list = Self.strangers + ours[0].bytes
        let mended = Self.mended(list, ours, rewriting: true)
        #expect(mended.list == list + ours[1].bytes)
        #expect(mended.patches == [ListPatch(offset: Int64(Self.strangers.count), bytes: ours[0].bytes)])
    }

    @Test(
        "What is no damage stays: lines that end with NULs, a program, an archive, nothing but NULs",
        arguments: [
            "abcd  a\u{0}", "abcd  a\u{0}abcd  b\u{0}", "abcd  a\u{0}abcd  with\nnewline\u{0}",
            "\u{7F}ELF\u{0}\u{0}\u{0}x\n\u{0}\u{0}", "\u{0}\u{0}\u{0}", "text\n\u{0}\u{0}more\n",
        ])
    func strangersNULs(_ text: String) {
        let ours = Self.text(1)
        let list = Array(text.utf8)
        for pieces in [1, 3, .max] {
            let mended = Self.mended(list, [ours], pieces: pieces)
            #expect(mended.patches.isEmpty)
            #expect(mended.list == list + (list.last == 0x0A ? [] : [0x0A]) + ours.bytes)
        }
    }

    @Test("What it keeps of a line is bounded by the lines that are looked for")
    func longLines() {
        let ours = Self.text(1)
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        #expect(Self.mended(long, [ours], pieces: 4096).list == long + [0x0A] + ours.bytes)
        let nuls = [UInt8](repeating: 0, count: 1 << 21)
        let list = Self.strangers + nuls
        // Far more than a batch writes.
        #expect(Self.mended(list, [ours], pieces: 4096).list == list + [0x0A] + ours.bytes)
    }
}

extension [UInt8] {
    fileprivate static func < (one: Self, other: Self) -> Bool { one.lexicographicallyPrecedes(other) }
}

import Files
import TestTools
import Testing

@testable import FolderWatch

@Suite("LineSplitter") struct LineSplitterTests {
    /// A file that is told piece by piece.
    private struct Told {
        var splitter: LineSplitter
        var place = FollowCheckpoint(inode: 7)

        init(longest: Int = .max) { splitter = LineSplitter(longest: longest) }

        mutating func tell(
            _ bytes: [UInt8], isReopened: Bool = false, isTruncated: Bool = false
        ) -> [FollowedLine] {
            if isReopened || isTruncated { place = FollowCheckpoint(inode: isReopened ? place.inode + 1 : place.inode) }
            let start = place
            place = place.advanced(by: bytes)
            return splitter.split(
                FollowedBytes(
                    bytes: bytes, isReopened: isReopened, isTruncated: isTruncated, checkpoint: place, start: start))
        }

        mutating func tell(_ text: String, isReopened: Bool = false, isTruncated: Bool = false) -> [FollowedLine] {
            tell(Array(text.utf8), isReopened: isReopened, isTruncated: isTruncated)
        }
    }

    @Test("Lines end with their newlines")
    func newlines() {
        var told = Told()
        #expect(told.tell("one\ntw").map(\.text) == ["one"])
        #expect(told.tell("o").isEmpty)
        #expect(told.tell("\n\nthree\n").map(\.text) == ["two", "", "three"])
        #expect(told.tell("").isEmpty)
    }

    @Test("Lines keep bytes that are no text")
    func bytes() {
        var told = Told()
        let lines = told.tell([0xFF, 0, 0x0D, 0x0A])
        #expect(lines.map(\.bytes) == [[0xFF, 0, 0x0D]])
        #expect(lines.first?.text == "\u{FFFD}\0\r")
    }

    @Test(
        "A line of the longest length is complete, and a longer one is cut",
        arguments: [1, 2, 3, 64, Int.max])
    func longest(_ cut: Int) {
        var told = Told(longest: 3)
        var lines: [FollowedLine] = []
        let bytes = Array("abc\ndefg\n\nhijklmn\n".utf8)
        for start in stride(from: 0, to: bytes.count, by: cut) {
            lines += told.tell(Array(bytes[start..<min(bytes.count, start.addingSaturated(cut))]))
        }
        #expect(lines.map(\.text) == ["abc", "def", "g", "", "hij", "klm", "n"])
        #expect(lines.map(\.isComplete) == [true, false, true, true, false, false, true])
        #expect(lines.map(\.checkpoint.offset) == [4, 7, 9, 10, 13, 16, 18])
    }

    @Test("A line that is too long is told before its end has come")
    func tooLong() {
        var told = Told(longest: 3)
        #expect(told.tell("abc").isEmpty)
        #expect(told.tell("d").map(\.text) == ["abc"])
        #expect(told.tell("\n").map(\.text) == ["d"])
    }

    @Test(
        "What is left is told before a new beginning",
        arguments: [(true, false), (false, true), (true, true)])
    func left(_ isReopened: Bool, _ isTruncated: Bool) {
        var told = Told()
        #expect(told.tell("whole\npart").map(\.text) == ["whole"])
        let lines = told.tell("new\nmore\n", isReopened: isReopened, isTruncated: isTruncated)
        #expect(lines.map(\.text) == ["part", "new", "more"])
        #expect(lines.map(\.isComplete) == [false, true, true])
        #expect(lines.map(\.isReopened) == [false, isReopened, false])
        #expect(lines.map(\.isTruncated) == [false, isTruncated, false])
        let inode: UInt64 = isReopened ? 8 : 7
        #expect(lines.map(\.checkpoint.inode) == [7, inode, inode])
        #expect(lines.map(\.checkpoint.offset) == [10, 4, 9])
    }

    @Test("That the file is another one, or truncated, waits for a line")
    func marks() {
        var told = Told()
        #expect(told.tell("", isReopened: true, isTruncated: true).isEmpty)
        #expect(told.tell("", isTruncated: true).isEmpty)
        #expect(told.tell("a").isEmpty)
        let lines = told.tell("\nb\n")
        #expect(lines.map(\.isReopened) == [true, false])
        #expect(lines.map(\.isTruncated) == [true, false])
    }

    /// Lines with their newlines are the bytes, however they are cut; and from the end of any line on, the rest
    /// follows.
    @Test(
        "Joined lines are the bytes, however they are cut, and from each checkpoint the rest follows",
        arguments: 0..<40 as Range<UInt64>)
    func random(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let longest = Int.random(in: 1...20, using: &random)
        let alphabet = Array("\n\nabc\u{0}é".utf8)
        let bytes = (0..<Int.random(in: 0...400, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0
        }
        var told = Told(longest: longest)
        var lines: [FollowedLine] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...70, using: &random))
            lines += told.tell(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        var joined: [UInt8] = []
        for (index, line) in lines.enumerated() {
            joined += line.bytes + (line.isComplete ? [0x0A] : [])
            #expect(line.bytes.count <= longest, "seed \(seed)")
            #expect(!line.bytes.contains(0x0A), "seed \(seed)")
            #expect(line.checkpoint == FollowCheckpoint(inode: 7).advanced(by: joined), "seed \(seed)")
            #expect(line.checkpoint.isSound)
            guard index % 7 == 0 else { continue }
            var follower = Told(longest: longest)
            follower.place = line.checkpoint
            #expect(follower.tell(Array(bytes[joined.count...])) == Array(lines[(index + 1)...]), "seed \(seed)")
        }
        #expect(bytes.starts(with: joined), "seed \(seed)")
        #expect(bytes.count - joined.count <= longest, "seed \(seed)")
        #expect(!bytes[joined.count...].contains(0x0A), "seed \(seed)")
    }
}

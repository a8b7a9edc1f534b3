import PipelineKit
import TestSupport
import Testing

@testable import PipelineConfig

@Suite struct YAMLReaderTests {
    private static func problems(_ text: String) -> [String] { problems(Array(text.utf8)) }

    private static func problems(_ text: [UInt8]) -> [String] {
        YAMLReader.read(text).problems.map { "\($0.position.line):\($0.position.column): \($0.message)" }
    }

    @Test func valuesKeepTheirPlacesAndKinds() throws {
        let text = "a: 1\nb:\n  - \"1\"\n  - ~\n  - {c: d}\né: x\n"
        let root = try #require(YAMLReader.read(Array(text.utf8)).root)
        func at(_ line: Int, _ column: Int) -> SourcePosition { SourcePosition(line: line, column: column) }
        let inner = OptionNode.Entry(
            key: "c", position: at(5, 6), value: OptionNode(.scalar("d", quoted: false), at: at(5, 9)))
        let list: [OptionNode] = [
            OptionNode(.scalar("1", quoted: true), at: at(3, 5)), OptionNode(.null, at: at(4, 5)),
            OptionNode(.map([inner]), at: at(5, 5)),
        ]
        #expect(
            root
                == OptionNode(
                    .map([
                        .init(
                            key: "a", position: at(1, 1), value: OptionNode(.scalar("1", quoted: false), at: at(1, 4))),
                        .init(key: "b", position: at(2, 1), value: OptionNode(.list(list), at: at(3, 3))),
                        .init(
                            key: "é", position: at(6, 1), value: OptionNode(.scalar("x", quoted: false), at: at(6, 4))),
                    ]), at: at(1, 1)))
    }

    @Test(arguments: [
        ("", "1:1: the file is empty; a pipeline needs inbox, processed, failed and stages"),
        ("# only this\n", "1:1: the file is empty; a pipeline needs inbox, processed, failed and stages"),
        ("---\n~\n", "1:1: the file is empty; a pipeline needs inbox, processed, failed and stages"),
        ("a: 1\n---\nb: 2\n", "2:1: a file contains one pipeline; put each of the others into its own file"),
        ("a: 1\nb: 2\n a: 3\n", "3:3: not valid YAML: mapping values are not allowed in this context"),
        ("a: [1, 2\n", "2:1: not valid YAML: did not find expected ',' or ']' while parsing a flow sequence"),
        (
            "a:\n\t- b\n",
            "2:1: not valid YAML: found character that cannot start any token while scanning for the next token; "
                + "indent with spaces, not with tabs"
        ),
        (
            "include: [*.pdf]\n",
            "1:12: not valid YAML: did not find expected alphabetic or numeric character while scanning an alias; "
                + "quote a value that begins with '*'"
        ),
        (
            "include: *pdf\n",
            "1:10: nothing before it has this name as its anchor; quote a value that begins with '*'"
        ),
        ("a: !!binary aGk=\n", "1:4: tags are not supported; leave it out, or quote a value that begins with '!'"),
        ("[a]: b\n", "1:1: a key must be a string"),
        ("a: \u{7}\n", "1:4: not valid YAML: control characters are not allowed"),
    ])
    func mistakes(text: String, message: String) {
        #expect(Self.problems(text) == [message])
    }

    @Test func everyDuplicateKeyIsReportedWhereItIsRepeated() {
        let text = "a: 1\nb: {x: 1, y: 2, x: 3}\na: 4\na: 5\n"
        #expect(
            Self.problems(text) == [
                "2:17: 'x' is given twice, first in line 2; keep one",
                "3:1: 'a' is given twice, first in line 1; keep one",
                "4:1: 'a' is given twice, first in line 1; keep one",
            ])
    }

    @Test func bytesThatAreNotUTF8HaveAPlace() {
        #expect(Self.problems(Array("a: b\né: ".utf8) + [0xED, 0x20]) == ["2:4: not UTF-8; save the file as UTF-8"])
        #expect(Self.problems([0xFF, 0xFE, 0x61, 0x00]) == ["1:1: not UTF-8; save the file as UTF-8"])
    }

    @Test func anchorsStandForWhatTheyName() throws {
        let root = try #require(YAMLReader.read(Array("a: &x [1, 2]\nb: *x\n".utf8)).root)
        guard case .map(let entries) = root.content else {
            Issue.record("no map")
            return
        }
        #expect(entries[0].value == entries[1].value)
    }

    /// Nine levels of nine would be 387 million values.
    @Test func aliasBombsAreRefused() {
        var text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
        for level in 1...9 {
            let members = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ",")
            text += "a\(level): &a\(level) [\(members)]\n"
        }
        let problems = Self.problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("the file expands to more than 10000 values; use fewer aliases") == true)
    }

    @Test func deepNestingIsRefusedAlsoThroughAliases() {
        #expect(
            Self.problems(String(repeating: "[", count: 900)) == [
                "1:33: nested more than 32 levels deep; a pipeline needs only a few"
            ])
        let chain = "- &a0 [x]\n" + (1...3000).map { "- &a\($0) [*a\($0 - 1)]\n" }.joined()
        #expect(Self.problems(chain) == ["30:9: nested more than 32 levels deep with its aliases; use fewer"])
    }

    /// Whatever is cut off or changed, reading ends with a tree or a problem.
    @Test func damagedTextNeverStopsTheReader() {
        let stages = "  - &x {k: \"v\\u00e9\", l: [1, 'é']}\n  - *x\n  - |\n    block\n"
        let text = Array("name: a # b\nstages:\n\(stages)".utf8)
        var generator = SeededGenerator(seed: 7)
        for length in 0..<text.count {
            let cut = YAMLReader.read(Array(text[..<length]))
            #expect(cut.root != nil || !cut.problems.isEmpty)
        }
        for _ in 0..<2000 {
            var changed = text
            for _ in 0..<3 {
                changed[Int.random(in: changed.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            let read = YAMLReader.read(changed)
            #expect(read.root != nil || !read.problems.isEmpty)
        }
    }
}

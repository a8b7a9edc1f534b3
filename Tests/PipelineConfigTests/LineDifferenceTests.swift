import BuiltinStages
import Testing

@testable import PipelineConfig

@Suite struct LineDifferenceTests {
    private func told(_ old: String, _ new: String) -> String {
        let (old, new) = (Array(old), Array(new))
        return LineDifference.steps(from: old, to: new).map { step in
            switch step {
            case .same(let line, let its):
                #expect(old[line] == new[its])
                return String(old[line])
            case .old(let line): return "-\(old[line])"
            case .new(let line): return "+\(new[line])"
            }
        }.joined()
    }

    @Test(arguments: [
        ("", "", ""), ("abc", "abc", "abc"), ("", "ab", "+a+b"), ("ab", "", "-a-b"), ("abc", "axc", "a-b+xc"),
        ("abcd", "acd", "a-bcd"), ("acd", "abcd", "a+bcd"), ("aab", "ab", "a-ab"), ("ab", "ba", "-ab+a"),
        ("abcdef", "xbcyef", "-a+xbc-d+yef"),
    ])
    func differencesAreFew(old: String, new: String, steps: String) { #expect(told(old, new) == steps) }

    @Test func manyLinesAreReplaced() {
        let (old, new) = (Array(0..<5000), [0] + Array((1..<5000).reversed()))
        let steps = LineDifference.steps(from: old, to: new)
        #expect(steps.count == 1 + 2 * 4999 && steps.first == .same(0, 0) && steps[1] == .old(1))
    }

    @Test func linesThatLookTheSameMayHaveOtherSecrets() throws {
        func shown(_ text: String) throws -> ShownText {
            try #require(ShownText(Array(text.utf8), .file(.builtin), secretKeys: []))
        }
        let text = "name: a\nstages:\n- run:\n    env:\n      A: b\n      C: d\n"
        let lines = ShownLine.lines(of: try shown(text), and: try shown(text.replacing("C: d", with: "C: e")))
        #expect(lines.map(\.place) == [.both, .both, .both, .both, .both, .loaded, .disk])
        #expect(lines.suffix(2).map(\.text) == ["      C: •••", "      C: •••"])
        let cut = ShownLine.lines(of: try shown("name: a\n"), and: try shown("name: a"))
        #expect(cut.map(\.place) == [.loaded, .disk])
        #expect(ShownLine.lines(of: try shown(text), and: nil).allSatisfy { $0.place == .both })
    }

    @Test("What is a secret in one text is none to show in a comment of the other")
    func secretsOfBothAreInNeither() throws {
        func shown(_ text: String) throws -> ShownText {
            try #require(ShownText(Array(text.utf8), .file(.builtin), secretKeys: []))
        }
        let old = try shown("# new key is 0thervalue\nstages: [http: { headers: { X-Key: s3cr3tvalue } }]")
        let new = try shown("# old key s3cr3tvalue\nstages: [http: { headers: { X-Key: 0thervalue } }]")
        let stages = "stages: [http: { headers: { X-Key: ••• } }]"
        #expect(
            ShownLine.lines(of: old, and: new).map(\.text)
                == ["# new key is •••", stages, "# old key •••", stages])
    }
}

import Files
import Testing

@testable import PipelineKit

/// Sentences that know what was filled into them.
@Suite struct SentenceTests {
    private func said(_ sentence: Sentence) -> Sentence { sentence }

    @Test("A literal prints as a string does, and tells what was filled in")
    func literal() throws {
        let (name, count, rest) = (try #require(FileName("a b.bin")), 3, "no")
        let sentence = said("'\(name)' has \(count) parts, " + "and \(rest) more.")
        #expect(sentence.text == "'\(name)' has \(count) parts, and no more.")
        #expect(sentence.arguments == ["a b.bin", "3", "no"])
        #expect(sentence.literals == ["'", "' has ", " parts, and ", " more."])
        #expect(sentence.template == "'{}' has {} parts, and {} more.")
        let text = "It is \(count)."
        #expect(said("It is so.").template == nil && Sentence(text).arguments == [])
    }

    @Test("A sentence within another, and a system call's failure, keep their parts apart")
    func nested() {
        let subject: Sentence = "The entry '\("x")'"
        #expect(said("\(subject) is \("bad").").template == "The entry '{}' is {}.")
        let error = IOError("open", "/in/a", .permissionDenied)
        #expect(said("\(error).").text == "\(error).")
        #expect(Failure(error).summarySentence.template == "cannot {} '{}': {}.")
        #expect(Failure(error).summarySentence.arguments == ["open", "/in/a", "Permission denied"])
    }

    @Test("Failures take literals as sentences, and strings as they are")
    func failures() {
        let name = "a.bin"
        let failure = Failure.file("x.y", "'\(name)' is bad.", remedy: "Send \(name) again.")
        #expect(failure.summarySentence.template == "'{}' is bad." && failure.summary == "'a.bin' is bad.")
        #expect(failure.remedySentence.arguments == ["a.bin"])
        let text: String = "'\(name)' is bad."
        let plain = Failure(.file, code: "x.y", summary: text, remedy: "Send a.bin again.")
        #expect(plain.summarySentence.template == nil)
        #expect(plain == failure, "they say the same")
        var changed = failure
        changed.summary += " Very."
        #expect(changed.summarySentence.template == nil && changed.summary == "'a.bin' is bad. Very.")
    }

    /// What senders and servers may have filled in, next to what stands around it.
    private static let words = ["", "a", "'", "' is bad", "{}", "{", "}", "\u{301}x", "\r\n", "é", "…", " and '"]

    @Test("What was written down is read as it was", arguments: words)
    func readsBack(first: String) {
        for second in Self.words {
            for sentence in [
                said("'\(first)' and '\(second)' is bad."), said("\(first)\(second)"), said("{\(first)} \(second)"),
                said("\(first)"),
            ] {
                guard let template = sentence.template else {
                    Issue.record("nothing in '\(sentence)' keeps it from having a template")
                    continue
                }
                let arguments = sentence.isToldByTemplate ? nil : sentence.arguments
                #expect(Sentence(sentence.text, template: template, arguments: arguments) == sentence)
            }
        }
    }

    @Test("What makes no sense is a sentence with nothing filled in")
    func nonsense() {
        for (template, arguments) in [
            ("other {}", nil), ("", nil), ("{}", []), ("{}", ["x"]), ("It is {} and {}.", ["so"]), ("no gap", nil),
        ] as [(String, [String]?)] {
            #expect(Sentence("It is so.", template: template, arguments: arguments) == "It is so.")
        }
        let many = Sentence(
            stringInterpolation: (0..<20).reduce(into: .init(literalCapacity: 0, interpolationCount: 20)) {
                $0.appendInterpolation($1)
                $0.appendLiteral(" ")
            })
        #expect(many.template == nil)
    }
}

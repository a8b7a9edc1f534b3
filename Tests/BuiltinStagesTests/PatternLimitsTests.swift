import Files
import PipelineKit
import TestSupport
import Testing

@testable import BuiltinStages

@Suite struct PatternLimitsTests {
    private func problem(_ pattern: String) -> PatternLimits.Problem? {
        do throws(PatternLimits.Problem) {
            try PatternLimits.check(Array(pattern.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "What people write is taken",
        arguments: [
            "^IMG_([0-9]+)", "^(.*)-(v[0-9]+)?\\.pdf$", "([0-9]{4})-?([0-9]{2})-?([0-9]{2})", "(a|b)*", "([a-z]+_)*",
            "^(.{1,255})$", "^(.{1,100})_(.{1,100})$", "[[:alpha:]]+", "\\<x\\>", "a\\{300\\}", "[{]+", "[]{a}]*",
            "[^]*]{3}", "[[.-.]*]{2}", "(a?b)*", "()", "(a|)", "^$", "é*", "[\\1]", "a\\\\1", "x)", "((a+)+)+",
        ])
    func usual(pattern: String) throws {
        #expect(problem(pattern) == nil)
        _ = try NameMatcher.Expression(pattern)
    }

    @Test(arguments: [
        ("(a)\\1", PatternLimits.Problem.backReference(1)), ("(a*)(b)[]\\]*\\2", .backReference(2)),
        ("(a{1,255}){1,255}", .tooLarge), ("((a{1,255}){1,255}){1,255}", .tooLarge), ("a{32767}", .tooLarge),
        ("a{521}", .tooLarge), ("a{520,}", .tooLarge), ("(((((((((a+)+)+)+)+)+)+)+)+)+", .tooLarge),
        ("(ab{9}|c{1,9}){,30}", .tooLarge), ("(a{22}){22}(", .tooLarge), ("a{400}|b{400}", .tooLarge),
        ("a**", .repeatsRepetition), ("a+?", .repeatsRepetition), ("a{2}{3}", .repeatsRepetition),
        ("(a*)*", .repeatsNothing), ("(a|)+", .repeatsNothing), ("()*", .repeatsNothing),
        ("((a?)(b*)){2}", .repeatsNothing),
        ("(|x)?", .repeatsNothing), ("(b{0}){9}", .repeatsNothing),
        ("(^a)+", .repeatsAnchor), ("(\\b){0,40}", .repeatsAnchor), ("((^)+){1,20}$", .repeatsAnchor),
        ("(x(a|b\\'))*", .repeatsAnchor), ("^*", .repeatsAnchor), ("(^|$|\\B)(^|$|\\B)(^|$|\\B)", .tooManyAnchors),
    ])
    func refusals(pattern: String, expected: PatternLimits.Problem) {
        #expect(problem(pattern) == expected)
    }

    @Test("Nesting without end and numbers without end are told at once")
    func long() {
        #expect(problem(String(repeating: "(", count: 1_000_000)) == .tooLarge)
        #expect(problem(String(repeating: "a", count: 1_000_000)) == .tooLarge)
        #expect(problem(String(repeating: "(a", count: 100) + String(repeating: "){255}", count: 100)) == .tooLarge)
        #expect(throws: NameMatcher.Refusal.self) { try NameMatcher.Expression("a{99999999999999999999}") }
        #expect(problem("a{99999999999999999999}") == nil)
    }

    /// Patterns grown from what makes glibc slow: whichever is taken is compiled and matched in no time.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func whateverIsTakenEnds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = try [
            String(repeating: "a", count: 255), String(repeating: "ab ", count: 85),
            String(repeating: "a", count: 254) + "b",
        ].map { try #require(FileName($0)) }
        var taken = 0
        while taken < 5 {
            let pattern = Self.pattern(5, &random) + (["", "$", "z"].randomElement(using: &random) ?? "")
            guard problem(pattern) == nil else { continue }
            taken += 1
            let clock = ContinuousClock()
            let spent = try clock.measure {
                let expression = try NameMatcher.Expression(pattern)
                for name in names { _ = expression.match(name) }
            }
            #expect(spent < .seconds(20), "\(pattern)")
        }
    }

    private static func pattern(_ depth: Int, _ random: inout SeededGenerator) -> String {
        let atoms = ["a", "b", ".", "[ab]", "a*", ".*", "", "()", "\\b", "^", "$", "\\w", "(a|aa)"]
        guard depth > 0, Int.random(in: 0..<8, using: &random) > 0 else {
            return atoms.randomElement(using: &random) ?? ""
        }
        let inner = (0..<Int.random(in: 1...3, using: &random)).map { _ in pattern(depth - 1, &random) }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return inner.joined()
        case 1: return "(\(inner.joined(separator: "|")))"
        default:
            let bounds = ["*", "+", "?", "{2,}", "{0,9}", "{1,40}", "{3}", "{0,300}"]
            return "(a\(inner[0]))" + (bounds.randomElement(using: &random) ?? "")
        }
    }
}

/// A sender gives names that make glibc keep as much as it can: what it keeps is given back.
@Suite struct NameMatcherTests {
    @Test func memoryStaysSmall() async {
        await #expect(processExitsWith: .success) {
            let place = SourcePosition(line: 1, column: 1)
            let pattern = try NamePattern(OptionNode(.scalar("^(a|b)*a(a|b){100}d", quoted: false), at: place))
            let matcher = pattern.matcher()
            var random = SeededGenerator(seed: 7)
            var first = 0
            for number in 0..<400 {
                let text = String((0..<255).map { _ in Bool.random(using: &random) ? "a" : "b" })
                _ = try matcher.groups(in: try #require(FileName(text)))
                if number == 40 { first = try ResidentMemory.anonymous() }
            }
            let growth = try ResidentMemory.anonymous() - first
            try #require(growth < 40 << 20, "\(growth >> 20) MiB more")
        }
    }
}

import Files
import PipelineKit
import Testing

@Suite struct EscapedTextTests {
    @Test(arguments: [
        ("plain text", "plain text"),
        ("äß漢🎉", "äß漢🎉"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("a\\b", "a\\\\b"),
        ("\u{1B}[31m", "\\x1B[31m"),
        ("\r\0\u{7F}", "\\x0D\\x00\\x7F"),
        ("\u{85}", "\\xC2\\x85"),
        ("a\u{202E}fdp", "a\\xE2\\x80\\xAEfdp"),
        ("\u{2066}", "\\xE2\\x81\\xA6"),
        ("a\u{2028}b\u{2029}", "a\\xE2\\x80\\xA8b\\xE2\\x80\\xA9"),
        ("\u{200E}\u{200F}\u{61C}", "\\xE2\\x80\\x8E\\xE2\\x80\\x8F\\xD8\\x9C"),
        ("e\u{301}", "e\u{301}"),
        ("", ""),
    ])
    func escapesWhatCannotBeShown(_ text: String, _ expected: String) {
        #expect(EscapedText.of(text) == expected)
    }

    @Test(
        arguments: [
            ([0xED], "\\xED"),
            ([0x61, 0xED, 0x62], "a\\xEDb"),
            ([0xC3], "\\xC3"),
            ([0xE2, 0x82], "\\xE2\\x82"),
            ([0xE2, 0x82, 0x41], "\\xE2\\x82A"),
            ([0xF0, 0x9F, 0xE2, 0x82, 0xAC], "\\xF0\\x9F€"),
            ([0xC0, 0xAF], "\\xC0\\xAF"),
            ([0xED, 0xA0, 0x80], "\\xED\\xA0\\x80"),
            ([0xF5, 0x80, 0x80, 0x80], "\\xF5\\x80\\x80\\x80"),
            ([0xC3, 0xA4, 0x80, 0xC3, 0xA4], "ä\\x80ä"),
        ] as [([UInt8], String)])
    func escapesBytesThatAreNoUTF8(_ bytes: [UInt8], _ expected: String) {
        #expect(EscapedText.of(bytes) == expected)
    }

    /// All that turns the direction of text, ends a line or moves the cursor is escaped in names, in messages as a
    /// whole and in JSON alike.
    @Test func whatIsObeyedIsShownNowhere() {
        for value in (0...0x10FFFF) as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isOrder =
                scalar.properties.isBidiControl
                || [.control, .lineSeparator, .paragraphSeparator]
                    .contains(scalar.properties.generalCategory)
            #expect(EscapedText.isHarmless(scalar) != isOrder, "\(String(value, radix: 16))")
            guard isOrder else { continue }
            let text = String(scalar)
            #expect(!EscapedText.of(text).unicodeScalars.contains(scalar))
            #expect(!EscapedText.printable(text).unicodeScalars.contains(scalar))
            var json = JSONText()
            json.object { $0.text("name", text) }
            #expect(!json.string.unicodeScalars.contains(scalar))
        }
    }

    @Test func differentNamesNeverLookTheSame() {
        let names: [[UInt8]] = [[0xED], Array("\\xED".utf8), Array("í".utf8), [0x0A], Array("\\n".utf8)]
        #expect(Set(names.map { EscapedText.of($0) }).count == names.count)
    }
}

@Suite struct GlobTests {
    @Test(arguments: [
        ("*", "anything", true),
        ("*.csv", "a.csv", true),
        ("*.csv", "a.csv.gz", false),
        ("*.CSV", "a.csv", false),
        ("?.txt", "a.txt", true),
        ("?.txt", "ab.txt", false),
        ("[a-c]*", "b1", true),
        ("[!a-c]*", "b1", false),
        ("*.{jpg,png}", "a.png", true),
        ("*.{jpg,png}", "a.gif", false),
        ("{a,b{c,d}}e", "bde", true),
        ("{a,b{c,d}}e", "be", false),
        ("{a,}x", "x", true),
        ("{a,b}{1,2}", "b1", true),
        ("{one}", "one", true),
        ("a}", "a}", true),
        ("a,b", "a,b", true),
        ("-*", "-rf", true),
        (".*", ".hidden", true),
        ("a\\*", "a*", true),
        ("a\\*", "ab", false),
    ])
    func matchesAsShellsDo(_ pattern: String, _ text: String, _ expected: Bool) throws {
        let glob = try #require(Glob(pattern))
        #expect(glob.matches(try #require(FileName(text))) == expected)
        #expect(glob.pattern == pattern)
    }

    @Test func matchesBytesThatAreNoText() throws {
        let name = try #require(FileName([0x56, 0xED, 0x2E, 0x74]))
        #expect(try #require(Glob("V?.t")).matches(name))
        #expect(try #require(Glob("*.t")).matches(name))
        #expect(Glob.everything.matches(name))
        #expect(!(try #require(Glob("*.u")).matches(name)))
    }

    @Test(arguments: ["", "{a,b", "a{b{c}", "{"])
    func refusesOpenBraces(_ pattern: String) {
        #expect(Glob(pattern) == nil)
    }

    @Test func refusesTooManyAlternatives() {
        #expect(Glob(String(repeating: "{a,b}", count: 9)) != nil)
        #expect(Glob(String(repeating: "{a,b}", count: 10)) == nil)
        #expect(Glob(String(repeating: "{a,b}", count: 60)) == nil)
        #expect(Glob("{" + String(repeating: ",", count: 2000) + "}") == nil)
    }

    @Test func refusesNestingAndLengthWithoutEnd() {
        #expect(Glob(String(repeating: "{", count: 200_000) + String(repeating: "}", count: 200_000)) == nil)
        #expect(Glob(String(repeating: "{", count: 1500) + String(repeating: "}", count: 1500)) == nil)
        #expect(Glob(String(repeating: "a", count: 5000)) == nil)
    }

    /// Matching goes back to the last star only: tried in every way these would take longer than the world will last.
    @Test(arguments: ["*a", "*?", "*[a]", "*[!b]", "*[[:alpha:]]", "a*a", "*\\a", "*{a,aa}"])
    func starsDoNotMultiply(_ piece: String) throws {
        let count = piece.contains("{") ? 8 : 100
        let glob = try #require(Glob(String(repeating: piece, count: count) + "b"))
        let name = try #require(FileName(String(repeating: "a", count: 255)))
        let path = [UInt8](repeating: UInt8(ascii: "a"), count: 4095)
        let spent = ContinuousClock().measure {
            #expect(!glob.matches(name))
            #expect(!glob.matches(path))
        }
        #expect(spent < .seconds(10))
    }
}

@Suite struct SuggestionTests {
    @Test(
        arguments: [
            ("algo", "algorithm"),
            ("algoritm", "algorithm"),
            ("Algorithm", "algorithm"),
            ("aglorithm", "algorithm"),
            ("manifst", "manifest"),
            ("ot", "to"),
            ("zzz", nil),
            ("x", nil),
            ("", nil),
        ] as [(String, String?)])
    func findsWhatIsNear(_ word: String, _ expected: String?) {
        #expect(Suggestion.nearest(to: word, among: ["algorithm", "manifest", "to"]) == expected)
    }

    @Test func prefersTheNearest() {
        #expect(Suggestion.nearest(to: "moved", among: ["removed", "move", "mode"]) == "move")
    }

    @Test func wordsTheHint() {
        #expect(Suggestion.hint(for: "nam", among: ["name"]) == "; did you mean 'name'?")
        #expect(Suggestion.hint(for: "qqqq", among: ["name"]) == "")
    }
}

@Suite struct MatchRuleTests {
    private func verdict(_ rule: MatchRule, _ text: String) throws -> MatchRule.Verdict {
        rule.verdict(on: try #require(FileName(text)))
    }

    @Test(arguments: [
        ("*.tmp", true), ("*.{tmp,part}", true), (".*", true), ("~*", true), ("Thumbs.db", true),
        ("*.{tmp,zip}", false), ("*", false), ("*tmp", false), ("*.tmp?", false), ("[.~]*", false),
    ])
    func patternsThatOnlyMatchIgnoredNames(pattern: String, expected: Bool) throws {
        let glob = try #require(Glob(pattern))
        #expect((IgnoredNames.reason(forAll: glob) != nil) == expected)
    }

    @Test(arguments: [
        ".hidden", "~lock", "a.tmp", "a.part", "a.partial", "a.filepart", "a.crdownload", "a.download", "a.swp",
        "Thumbs.db", "desktop.ini", ".report.pdf.Xk3fQz", "._photo.jpg", "~$letter.docx", "REPORT.TMP", "a.PART",
        "a.csv~", "#a.csv#", "a.temp", "film.mkv.!qB", "a.camelLock",
    ])
    func neverTakesUnfinishedNames(_ text: String) throws {
        guard case .ignored(let reason) = try verdict(MatchRule(), text) else {
            Issue.record("\(text) is not ignored")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test(arguments: ["a.tmp.txt", "tmp", "a.tmpx", "thumbs.db.zip", "a~b", "-a", "part", "a#", "#1.pdf"])
    func takesNamesThatOnlyLookLikeThem(_ text: String) throws {
        #expect(try verdict(MatchRule(), text) == .taken)
    }

    @Test func excludingWinsOverIncluding() throws {
        let csv = try #require(Glob("*.csv"))
        let draft = try #require(Glob("draft*"))
        let rule = MatchRule(include: [csv], exclude: [draft])
        #expect(try verdict(rule, "a.csv") == .taken)
        #expect(try verdict(rule, "draft.csv") == .excluded(draft))
        #expect(try verdict(rule, "a.pdf") == .notIncluded)
        guard case .ignored = try verdict(rule, ".a.csv") else {
            Issue.record("a hidden name is taken")
            return
        }
    }

    @Test func takesNamesThatAreNoText() throws {
        #expect(MatchRule().verdict(on: try #require(FileName([0xED]))) == .taken)
    }
}

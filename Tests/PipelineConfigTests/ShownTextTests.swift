import BuiltinStages
import TestTools
import Testing

@testable import PipelineConfig

/// What of a pipeline file people see who may look.
@Suite struct ShownTextTests {
    private static func shown(_ text: String) -> String? { shown(Array(text.utf8))?.lines.joined(separator: "\n") }

    private static func shown(_ text: [UInt8]) -> ShownText? {
        ShownText(text, .file(.builtin), secretKeys: ShownKeys.secretKeys(.builtin))
    }

    @Test func aFileIsShownAsItWasWritten() throws {
        let text = """
            # Covers: # they are checked
            name: covers      # ours
            inbox: ${ROOT:-/srv}/in
            match: { include: ["*.pdf", '*.tif'], depth: all }
            ready: {
              quiet: 1s, # not less
            }

            stages:
              - detect
              - &once run:
                  command: [gs, "-o", "{file}"]
                  when: "*.ps"
                  retry: { attempts: 2 }
              - bag: { info: { Contact: "two
                  lines" } }
              - http: { url: "https://example.org/in/{name}?job={job}" }
              - move: { to: "é/{date:%Y}" }
            on_failure: { run: { command: [notify], stdin: report } }
            """
        #expect(Self.shown(text) == text)
        #expect(Self.shown(text + "\n") == text)
        #expect(Self.shown("\u{FEFF}" + text.replacing("\n", with: "\r\n")) == text)
    }

    @Test(arguments: [
        // All values where secrets may be, whether they are, however they are written.
        ("stages: [run: { env: { A: b, 'C': \"d\" } }]", "stages: [run: { env: { A: •••, 'C': ••• } }]"),
        (
            "stages:\n- http:\n   headers:\n    A: Bearer x\n     y\n    B: |\n     one\n\n     two\n   body: report",
            "stages:\n- http:\n   headers:\n    A: •••\n     •••\n    B: •••\n     •••\n\n     •••\n   body: report"
        ),
        (
            "stages: [run: { env: { A: [b, c], D: { e: f } } }]",
            "stages: [run: { env: { A: [•••, •••], D: { e: ••• } } }]"
        ),
        ("stages: [http: { headers: 'A: b' }]", "stages: [http: { headers: ••• }]"),
        // A name without a value may be one.
        (
            "stages: [http: { headers: { A s3cr3t, s3cr3t, \"B\": } }]",
            "stages: [http: { headers: { •••, •••, •••: } }]"
        ),
        ("stages: [run: { env: { 'A b': c } }]", "stages: [run: { env: { •••: ••• } }]"),
        // What nobody knows.
        (
            "passwd: x\nstages: [run: { evn: { A: b } }, runn: { env: { A: b } }, s3]",
            "passwd: •••\nstages: [run: { evn: { A: ••• } }, runn: { env: { A: ••• } }, •••]"
        ),
        ("stages:\n- run:\n    command: x\n    env:\n  A: b", "stages:\n- run:\n    command: x\n    env:\n  A: •••"),
        ("match: { env: { A: b } }\ninbox: { c: d }", "match: { env: { A: ••• } }\ninbox: { c: ••• }"),
        ("- a\n- b: c", "- •••\n- b: •••"), ("s3cr3t", "•••"),
        // Others' values that are named where secrets are.
        ("name: &n abc\nstages: [http: { headers: { A: *n } }]", "name: •••\nstages: [http: { headers: { A: ••• } }]"),
        (
            "x: &x { A: &y b }\nmatch: { include: [*y] }\nstages: [run: { env: *x }]",
            "x: &x { A: ••• }\nmatch: { include: [*y] }\nstages: [run: { env: ••• }]"
        ),
        // URLs, wherever they are.
        (
            "stages: [http: { url: \"https://a:b@c/{name}?d=e\" }, run: { command: [curl, 'ftp://f@g'] }]",
            "stages: [http: { url: \"https://•••@c/{name}?d=•••\" }, run: { command: [curl, 'ftp://•••@g'] }]"
        ),
        ("stages: [http: { url: \"https:\\u002f/a:b@c\" }]", "stages: [http: { url: ••• }]"),
        (
            "stages:\n- http: { url: https://anna:it's@c/in }\n- http: { url: https://c?d=e\"f }",
            "stages:\n- http: { url: https://•••@c/in }\n- http: { url: https://c?d=••• }"
        ),
        ("stages: [http: { url: \"https://a:p\\\"w@h\" }]", "stages: [http: { url: ••• }]"),
        ("stages: [http: { url: \"https://a?b=s3c\\\n  r3t\" }]", "stages: [http: { url: •••\n  ••• }]"),
        // Comments beside, within and behind what is not shown.
        (
            "stages:\n- http: # 1\n   body: report\n   headers: # 2\n    # 3\n    A: b # 4\n   # 5\n   method: PUT # 6",
            "stages:\n- http: # 1\n   body: report\n   headers: # •••\n    # •••\n    A: ••• # •••\n"
                + "   # •••\n   method: PUT # 6"
        ),
        ("stages: [http: { headers: { # 1\n} # 2\n}] # 3", "stages: [http: { headers: { # •••\n} # •••\n}] # •••"),
        ("stages: [http: { url: 'http://a@b' # 1\n# 2\n}]", "stages: [http: { url: 'http://•••@b' # •••\n# 2\n}]"),
        // Comments within what is shown.
        ("name: | # Authorization: Bearer abcdef\n  a # b", "name: | # •••\n  a # b"),
        ("name: &a # its token is b\n  !!str c", "name: &a # •••\n  !!str c"),
        ("name: >- # its key is s3cr3t\n  ftp://s3cr3t@b", "name: >- # •••\n  ftp://•••@b"),
        ("name: |- # ours\r\n  # a\r\ninbox: > # 1\r\n  /a", "name: |- # ours\n  # a\ninbox: > # 1\n  /a"),
        // Comments with what was a setting, and with what is one.
        ("# - http: {\n#   Headers: { A: b } }\nname: c # d", "# •••\n# •••\nname: c # d"),
        ("name: c # d\n# e\n# its Token is f\n\n# g", "name: c # d\n# •••\n# •••\n\n# g"),
        (
            "# ftp://a@b\nname: c # it was s3cr3t!\nstages: [run: { env: { A: 'Bearer s3cr3t' } }]",
            "# ftp://•••@b\nname: c # it was •••!\nstages: [run: { env: { A: ••• } }]"
        ),
        ("# was s3cr3t\nstages: [run: { env: { A: s3cr3t } }]", "# was •••\nstages: [run: { env: { A: ••• } }]"),
        (
            "# was s3c@r3t\nstages: [run: { env: { A: 'Basic s3c@r3t' } }]",
            "# was •••\nstages: [run: { env: { A: ••• } }]"
        ),
    ])
    func secretsAreNot(text: String, shown: String) { #expect(Self.shown(text) == shown) }

    @Test(arguments: ["", "# only this", "a: [", "a: *s3cr3t", "a: !s3cr3t b", "a: 1\n---\nb: 2", "a: \u{7}"])
    func whatIsNoYAMLIsNotShown(text: String) { #expect(Self.shown(text) == nil) }

    @Test func whatIsNoTextIsNotShown() { #expect(Self.shown([0x61, 0x3A, 0xFF]) == nil) }

    @Test("Comments are not looked through for very much", .timeLimit(.minutes(1)))
    func longSecrets() {
        let secret = String(repeating: "a", count: 100_000)
        let comment = String(repeating: "a", count: 99_999)
        #expect(
            Self.shown("# \(comment)b\nstages: [run: { env: { A: \(secret) } }]")
                == "# •••\nstages: [run: { env: { A: ••• } }]")
    }

    @Test("No secret of a file is shown, and the rest as it is", arguments: 0..<300)
    func anyFile(seed: UInt64) throws {
        var file = RandomPipeline(seed: seed)
        let text = file.text()
        let problems = YAMLReader.read(Array(text.utf8)).problems
        let shown = try #require(Self.shown(text), "\(problems)\n\(text)")
        for secret in file.secrets { #expect(!shown.contains(secret), "\(secret):\n\(text)\n--\n\(shown)") }
        for word in file.publics { #expect(shown.contains(word), "\(word):\n\(text)\n--\n\(shown)") }
        let lines = (text.split(whereSeparator: \.isNewline), shown.split(whereSeparator: \.isNewline))
        #expect(lines.0.count == lines.1.count)
        for (line, its) in zip(lines.0, lines.1) where !file.secrets.contains(where: { line.contains($0) }) {
            #expect(line == its || its.contains("•••"), "\(text)\n--\n\(shown)")
        }
    }

    @Test("Whatever a file has become, it is shown with as many lines and no secret, or not", arguments: 0..<100)
    func anyDamage(seed: UInt64) throws {
        var file = RandomPipeline(seed: seed)
        var random = SeededGenerator(seed: seed)
        let text = Array(file.text().utf8)
        let loaded = try #require(Self.shown(text))
        let signs = Array("#:-&*!|><'\"{}[],?%@` \t\n\r\\\u{85}\u{2028}".utf8)
        var shown = 0
        for _ in 0..<40 {
            var damaged = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<damaged.count, using: &random)
                damaged[place] = signs.randomElement(using: &random) ?? 0
            }
            guard let lines = Self.shown(damaged)?.lines(beside: loaded) else { continue }
            shown += 1
            let ends = damaged.count { $0 == UInt8(ascii: "\n") }
            #expect(lines.count == ends + (damaged.last == UInt8(ascii: "\n") ? 0 : 1))
            for secret in file.kept {
                #expect(
                    !lines.contains { $0.contains(secret) },
                    "\(secret):\n\(String(decoding: damaged, as: UTF8.self))\n--\n\(lines.joined(separator: "\n"))")
            }
        }
        #expect(shown > 0)
    }
}

/// A pipeline with secrets in all ways in which one may be written.
private struct RandomPipeline {
    private var random: SeededGenerator
    private(set) var secrets: [String] = []
    /// Those below `env` and `headers`.
    private(set) var kept: [String] = []
    private(set) var publics: [String] = []
    private var values: [String] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func text() -> String {
        var text = comment("")
        let anchor = chance(4) ? word() : nil
        text += "name: \(anchor.map { "&a \($0)" } ?? open())\n"
        text += "inbox: /srv/\(open()) # \(word())\n\(comment(""))stages:\n"
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let isRun = chance(2)
            let key = isRun ? "env" : "headers"
            text += comment("  ")
            if chance(3) {
                text += "  - \(isRun ? "run" : "http"): { \(key): { \(flow(anchor)) }, timeout: \(open()) }\n"
                continue
            }
            text += "  - \(isRun ? "run" : "http"):\n"
            text +=
                isRun ? "      command: [\(open()), 'ftp://\(secret("\"`<>@"))@\(open())']\n" : "      url: \(url())\n"
            text += "      \(key):\(chance(3) ? " # \(told())" : "")\n"
            for _ in 0..<Int.random(in: 1...3, using: &random) { text += block(anchor) }
            if chance(2) { text += "      # was \(told())\n" }
            text += "      timeout: \(open()) # \(word())\n"
        }
        if chance(2) { text += "unknown: { a: [\(secret()), { b: \"\(secret())\" }] }\n" }
        return text.replacing("\n", with: chance(3) ? "\r\n" : "\n")
    }

    private mutating func word() -> String {
        String((0..<10).map { _ in "abcdefghijklmnopqrstuvwxyzé".randomElement(using: &random) ?? "a" })
    }

    /// A secret, with one of these signs, if any.
    private mutating func secret(_ signs: String = "") -> String {
        let (word, place) = (told(), Int.random(in: 1..<10, using: &random))
        let sign = signs.randomElement(using: &random).map { String($0) } ?? ""
        let secret = word.prefix(place) + sign + word.dropFirst(place)
        secrets[secrets.count - 1] = String(secret)
        values.append(String(secret))
        return String(secret)
    }

    /// One below `env` or `headers`.
    private mutating func value(_ signs: String = "") -> String {
        kept.append(secret(signs))
        return kept.last ?? ""
    }

    /// One in a comment that nobody else has.
    private mutating func told() -> String {
        secrets.append(word())
        return secrets.last ?? ""
    }

    private mutating func open() -> String {
        publics.append(word())
        return publics.last ?? ""
    }

    /// What stands elsewhere is a secret once it is named here.
    private mutating func alias(_ anchor: String?) -> String {
        guard let anchor, chance(2) else { return "~" }
        secrets.append(anchor)
        return "*a"
    }

    /// One time in so many.
    private mutating func chance(_ many: UInt64) -> Bool { random.next() % many == 0 }

    private mutating func comment(_ indent: String) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "\(indent)# \(word())\n\n"
        case 1: return "\(indent)# - http: { headers: { A: \(told()) } }\n\(indent)# \(told())\n"
        // One that is a value, too.
        case 2: return values.randomElement(using: &random).map { "\(indent)# \($0) was it\n" } ?? ""
        default: return ""
        }
    }

    private mutating func url() -> String {
        let quote = ["\"", "'", ""].randomElement(using: &random) ?? ""
        let signs = "'\"`<>@".filter { String($0) != quote }
        let user = "\(secret(signs)):\(secret(signs))"
        let rest = "\(open())=\(secret(signs))#\(secret(signs))"
        return "\(quote)https://\(user)@\(open()).example/{name}?\(rest)\(quote) # \(told())"
    }

    private mutating func flow(_ anchor: String?) -> String {
        "K: \(scalar()), \"L\": '\(value("\"`<>#@")) ''\(value())', \(value()), M: \(alias(anchor))"
    }

    private mutating func scalar() -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: "Bearer \(value("'\"`<>#@"))"
        case 1: "\"\(value("'`<>#@"))\\n\(value("'`<>#@")) \\\"# \(told())\""
        case 2: "!!str \(value("'\"`<>#@"))"
        default: "\(value())#\(value()):\(value())"
        }
    }

    private mutating func block(_ anchor: String?) -> String {
        let key = "        \(chance(2) ? "K\(random.next())" : "'L-\(random.next())'"): "
        let signs = "'\"`<>#@"
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return "\(key)|-  # \(told())\n          \(value(signs))\n\n          # \(told())\n"
        case 1: return "\(key)>2\n          \(value(signs))\n            \(value(signs))\n"
        case 2: return "\(key)\(value(signs))\n          \(value(signs))\n\n          \(value(signs))\n"
        case 3: return "\(key)\"\(value())\n          \(value("'<#@")) \\\n          \(value())\" # \(told())\n"
        case 4: return "\(key)&b \(value(signs))\n        ? M\(random.next())\n        : \(value(signs))\n"
        case 5: return "        # \(told())\n\(key)\(alias(anchor))\n"
        default: return "\(key)\(scalar())\n"
        }
    }
}

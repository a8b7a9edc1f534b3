import Files
import PipelineKit
import Testing

@Suite("MarkerRule") struct MarkerRuleTests {
    private func rule(_ text: String) throws -> MarkerRule { try MarkerRule(Template(text, use: .name)) }
    private func name(_ text: String) throws -> FileName { try #require(FileName(text)) }

    @Test(
        "A drop's marker",
        arguments: [
            ("{name}.done", "report.csv", "report.csv.done"),
            ("{stem}.ok", "report.csv", "report.ok"),
            ("{stem}.ok", "scans.tar.gz", "scans.ok"),
            (".{name}.ready", "a", ".a.ready"),
            ("READY", "a", "READY"),
        ])
    func names(_ template: String, _ drop: String, _ marker: String) throws {
        let rule = try rule(template)
        #expect(rule.name(for: try name(drop)) == (try name(marker)))
        #expect(rule.isMarker(try name(marker)))
        #expect(!rule.isMarker(try name(drop)))
    }

    @Test("An ending alone is no marker, and a name that would be too long has none")
    func edges() throws {
        let rule = try rule("{name}.done")
        #expect(!rule.isMarker(try name(".done")))
        #expect(rule.name(for: try name(String(repeating: "x", count: 252))) == nil)
        #expect(!rule.isShared)
        #expect(try self.rule("READY").isShared)
    }

    @Test(
        "What says nothing of the drop, or is the drop itself, is refused",
        arguments: ["{name}", "{job}.ok", "{date}.ok", "all-{ext}.ok"])
    func refused(_ template: String) throws {
        let template = try Template(template, use: .name)
        #expect(throws: TemplateProblem.self) { try MarkerRule(template) }
    }

    /// The rule, a marker's name, and the one drop that it can speak for.
    @Test(
        "Which drop a marker speaks for is known from its name where there can be only one",
        arguments: [
            ("{name}.done", "a.pdf.done", "a.pdf"), ("ok-{name}", "ok-a", "a"), ("<{name}>", "<a>", "a"),
            ("{name}.done", "a.pdf", nil), ("{name}.done", ".done", nil), ("{name}.done", "a.done.done", nil),
            ("{stem}.done", "a.done", nil), ("READY", "READY", nil),
        ] as [(String, String, String?)])
    func onlyDropOf(rule: String, marker: String, expected: String?) throws {
        let rule = try self.rule(rule)
        let drop = rule.onlyDrop(of: try #require(FileName(marker)))
        #expect(drop?.text == expected)
        if let drop { #expect(rule.name(for: drop)?.text == marker) }
    }
}

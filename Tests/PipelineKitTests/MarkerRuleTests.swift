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
        arguments: ["{name}", "{job}.ok", "{date}.ok"])
    func refused(_ template: String) throws {
        let template = try Template(template, use: .name)
        #expect(throws: TemplateProblem.self) { try MarkerRule(template) }
    }
}

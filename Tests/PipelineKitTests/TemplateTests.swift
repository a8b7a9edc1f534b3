import Files
import PipelineKit
import SystemPackage
import Testing

@Suite struct TemplateTests {
    private func values(
        _ name: String = "scan.tar.gz", folders: [String] = [], job: String = "J1"
    ) throws -> TemplateValues {
        TemplateValues(
            name: try #require(FileName(name)), folders: try folders.map { try #require(FileName($0)) },
            pipeline: "letters", job: job, date: Timestamp(seconds: 1_772_323_200, nanoseconds: 0))
    }

    @Test(
        arguments: [
            ("out/{stem}", .path, "out/scan"),
            ("{name}", .name, "scan.tar.gz"),
            ("{stem}.{ext}", .name, "scan.tar.gz"),
            ("{pipeline}-{job}", .name, "letters-J1"),
            ("fixed", .path, "fixed"),
            ("{date:%Y}/{name}", .path, "2026/scan.tar.gz"),
            ("a{date:%Y/%m}b", .path, "a2026/03b"),
            ("{path}/{name}", .path, "x/y/scan.tar.gz"),
        ] as [(String, Template.Use, String)])
    func renders(_ source: String, _ use: Template.Use, _ expected: String) throws {
        let rendered = try Template(source, use: use).render(values(folders: ["x", "y"]))
        #expect(String(decoding: rendered, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("out/{stem}", "processed", true), ("out/{stem}", "a/b", true), ("{stem}", "a", true),
        ("out/x-{stem}", "processed", false), ("out/x-{stem}", "x-1", true), ("out/{stem}-x", "x", false),
        ("out/{stem}.d/{name}", "a/b", false), ("out/{stem}.d/{name}", "a.d/b", true), ("out/{stem}/", "a", true),
        ("out/a{stem}a{ext}a", "aa", false), ("out/a{stem}a{ext}a", "aXaXaXa", true),
    ])
    func knowsWhatItCanBecome(source: String, path: String, expected: Bool) throws {
        #expect(try Template(source, use: .path).canBecome(FilePath(path)) == expected)
    }

    @Test(arguments: [
        ("out/{ext}", true), ("out/{path}/{ext}", true), ("{ext}", true), ("out/{ext}/", true),
        ("out/{path}{ext}", true), ("out/{stem}", false), ("out/{ext}/x", false), ("out/x{ext}", false),
        ("out/{ext}x", false), ("out/{stem}{ext}", false), ("out/{path}/{stem}", false), ("out", false),
        ("out/{stem}/", false), ("{date:%Y/%m}", false),
    ])
    func knowsWhetherItsLastPartCanBeEmpty(source: String, expected: Bool) throws {
        #expect(try Template(source, use: .path).lastCanBeEmpty == expected)
    }

    @Test func aPlainDateIsTheLocalDay() throws {
        let values = try values()
        #expect(try Template("{date}", use: .name).render(values) == Array(values.date.formatted("%Y-%m-%d").utf8))
    }

    @Test func namesKeepTheirBytes() throws {
        var values = try values()
        values.name = try #require(FileName([0xED, 0x2E, 0x74]))
        #expect(try Template("{stem}", use: .path).render(values) == [0xED])
    }

    @Test(arguments: [
        ("", "must not be empty"),
        ("a\0b", "NUL"),
        ("a}", "'}' without '{'"),
        ("{name", "'{' without '}'"),
        ("{nam}", "did you mean '{name}'?"),
        ("{}", "known are {name}"),
        ("{Date:%Y}", "unknown placeholder"),
        ("{stem}/../x", "'..' after a placeholder"),
        ("out/{stem}/..", "'..' after a placeholder"),
        ("out/.{ext}", "can become '.' or '..'"),
        ("..{ext}", "can become '.' or '..'"),
        ("out/{date:%Y}./x", "can become '.' or '..'"),
        ("{stem}.{ext}/{ext}.{ext}", "can become '.' or '..'"),
    ])
    func refusesInPaths(_ source: String, _ reason: String) {
        let problem = #expect(throws: TemplateProblem.self) { try Template(source, use: .path) }
        #expect(problem?.message.contains(reason) == true, "\(problem?.message ?? "no problem")")
    }

    @Test(arguments: ["a/{name}", "..", "/x", "{path}", "{date:%Y/%m}"])
    func refusesInNames(_ source: String) {
        #expect(throws: TemplateProblem.self) { try Template(source, use: .name) }
    }

    @Test func aNameWhoseDateBringsASlashIsRefusedWhenItIsMade() throws {
        let template = try Template("x{date:%D}", use: .name)
        #expect(throws: TemplateProblem.self) { try template.render(values()) }
    }

    @Test(arguments: [
        ("out/{stem}", "...txt"),
        ("out/{stem}/x", "...txt"),
        ("out/{stem}", "..txt"),
        ("out/.{stem}", "..txt"),
        ("{date:..}/{name}", "a"),
        ("out/{date:a/../..}/{name}", "a"),
        ("{ext}", "noextension"),
        ("{path}", "a"),
    ])
    func refusesWhatWouldLeadOut(_ source: String, _ name: String) throws {
        let template = try Template(source, use: .path)
        #expect(throws: TemplateProblem.self) { try template.render(values(name)) }
    }

    @Test(arguments: [
        ("out/{stem}", "/srv", "/srv/out/scan"),
        ("../out/{stem}", "/srv/p", "/srv/out/scan"),
        ("../../../../out", "/srv/p", "/out"),
        ("/abs/{stem}", "/srv", "/abs/scan"),
        ("./out//{stem}/", "/srv", "/srv/out/scan"),
        // `{path}` is empty at the top of an inbox: what is written relative stays relative.
        ("{path}/{stem}", "/srv", "/srv/scan"),
        ("{path}//{path}/{stem}", "/srv", "/srv/scan"),
        ("{date:/etc}/{stem}", "/srv", "/srv/etc/scan"),
        ("out/{path}/{stem}", "/srv", "/srv/out/scan"),
    ])
    func makesPaths(_ source: String, _ base: String, _ expected: String) throws {
        let template = try Template(source, use: .path)
        let path = try template.path(values(), below: FilePath(base))
        #expect(path.string == expected)
        #expect(path.starts(with: template.fixedFolder(below: FilePath(base))))
    }

    @Test(arguments: [
        ("../out/{stem}", "/srv/out"),
        ("out/pre{stem}/x", "/srv/p/out"),
        ("{stem}", "/srv/p"),
        ("pre{stem}", "/srv/p"),
        ("../out/deep", "/srv/out/deep"),
        ("/abs/{stem}", "/abs"),
        ("/{stem}", "/"),
    ])
    func knowsItsFixedFolder(_ source: String, _ expected: String) throws {
        let template = PathTemplate(try Template(source, use: .path), below: "/srv/p")
        #expect(template.fixedFolder.string == expected)
    }
}

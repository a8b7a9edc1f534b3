import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineConfig

/// The daemon's own settings: where they are found, and what they say.
@Suite struct ServiceSettingsTests {
    private let scratch: ScratchFolder
    private let loader = PipelineLoader(registry: FakeStages.registry, environment: ["GROUP": "root"], cores: 2)

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n", to: "etc/pipelines/press.yaml")
    }

    private func read(_ path: String = "etc/pipelines", _ place: SettingsPlace = .beside) -> PipelineFiles {
        PipelineLoader.read([scratch.path(path)], settings: place)
    }

    private func settings(_ text: String) throws -> ServiceSettings {
        try scratch.write(text, to: "etc/dropmill.yaml")
        return try loader.settings(of: read())
    }

    private func problems(_ files: PipelineFiles) -> [String] {
        do throws(ConfigProblems) {
            _ = try loader.load(files)
            return []
        } catch {
            return error.all.map { $0.description.replacing("\(scratch.path.text)/", with: "") }
        }
    }

    @Test func whatIsNotSaidIsAsUsual() throws {
        #expect(try loader.settings(of: read()) == ServiceSettings())
        #expect(try settings("# nothing yet\n") == ServiceSettings())
        #expect(ServiceSettings().controlGroup == nil && ServiceSettings().stall == .seconds(600))
    }

    @Test func whatIsSaidIsRead() throws {
        var expected = ServiceSettings()
        (expected.controlGroup, expected.controlGroupMay, expected.stall) = (0, .change, .seconds(90))
        #expect(try settings("control_group: ${GROUP}\ncontrol_group_may: change\nstall: 90s\n") == expected)
    }

    @Test(arguments: ["inbox: in", "processed: done", "failed: failed", "inbox: in, below: old"])
    func anArchiveHasAFolderOfItsOwn(_ words: String) throws {
        let (role, path) = (words.prefix { $0 != ":" }, words.drop { $0 != ":" }.dropFirst(2).prefix { $0 != "," })
        let below = words.contains("below") ? "/old" : ""
        try scratch.makeFolder("etc/pipelines/\(path)")
        try scratch.write("history: { archive: pipelines/\(path)\(below) }\n", to: "etc/dropmill.yaml")
        let found = problems(read())
        #expect(found.count == 1 && found[0].contains("'history.archive' is"), "\(found)")
        #expect(found.first?.contains("\(role)") ?? false && found.first?.contains("'press'") ?? false, "\(found)")
        try scratch.write("history: { archive: pipelines }\n", to: "etc/dropmill.yaml")
        #expect(problems(read()).isEmpty)
    }

    @Test func historyAndLogAreRead() throws {
        var expected = ServiceSettings()
        (expected.history.processed, expected.history.failed) = (.seconds(30 * 86_400), .seconds(365 * 86_400))
        (expected.history.jobs, expected.history.bytes) = (5_000_000, 10 << 30)
        expected.history.archive = scratch.path("etc/old jobs")
        (expected.log.format, expected.log.level) = (.json, .warning)
        let text = """
            history: { processed: 30d, failed: 365d, jobs: 5000000, bytes: 10GiB, archive: "./x/../old jobs" }
            log: { format: json, level: warning }
            """
        let found = try settings(text)
        #expect(found == expected)
        #expect(found.history.cancelled == HistoryRule.usual)
        #expect(found.changes(from: ServiceSettings()) == ["history", "log"])
        #expect(found.history.keeping(all: .seconds(60)).failed == .seconds(60))
        #expect(found.history.keeping(all: nil) == found.history)
    }

    @Test(arguments: [
        ("control_grup: root", "1:1", "unknown key 'control_grup'; did you mean 'control_group'?"),
        ("control_group: no-such-group", "1:16", "the group 'no-such-group' does not exist on this machine"),
        ("control_group: 0\ncontrol_group_may: chnge", "2:20", "did you mean 'change'?"),
        ("control_group_may: change", "1:1", "needs 'control_group'"), ("stall: 0s", "1:8", "at least 1s"),
        ("stall: [", "2:1", "YAML"), ("- stall", "1:1", "a settings file must be a map"),
        ("stall: 1m\n---\nstall: 2m", "2:1", "one document"),
        ("history: 90d", "1:10", "'history' must be a map of processed, failed, cancelled, jobs, bytes, archive"),
        ("history: { procesed: 1d }", "1:12", "did you mean 'processed'?"),
        ("history: { failed: 5s }", "1:20", "write at least 1m"),
        ("history: { jobs: 0 }", "1:18", "expected at least 1"),
        ("history: { bytes: 4KiB }", "1:19", "write at least 1MiB"),
        ("history: { archive: '' }", "1:21", "name a folder"),
        ("log: { level: loud }", "1:15", "not one of debug, info, warning, error"),
        ("log: json", "1:6", "'log' must be a map of format, level"),
    ])
    func whatIsWrongIsSaidWithItsPlace(text: String, place: String, words: String) throws {
        try scratch.write(text, to: "etc/dropmill.yaml")
        let found = problems(read())
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("etc/dropmill.yaml:\(place): error: ") ?? false, "\(found)")
        #expect(found.first?.contains(words) ?? false, "\(found)")
    }

    @Test func theFileIsInTheFolderOfThePipelinesOrBesideIt() throws {
        try scratch.write("stall: 1m", to: "etc/dropmill.yaml")
        #expect(read().settings?.path == scratch.path("etc/dropmill.yaml"))
        #expect(read("etc/pipelines/press.yaml").settings?.path == scratch.path("etc/dropmill.yaml"))
        try scratch.write("stall: 2m", to: "etc/pipelines/dropmill.yaml")
        let inside = read()
        #expect(inside.settings?.path == scratch.path("etc/pipelines/dropmill.yaml"))
        #expect(try loader.load(inside).map(\.name) == ["press"], "it is not a pipeline")
        #expect(PipelineLoader.read([scratch.path("etc/pipelines")]).settings == nil, "nobody asked for it")
    }

    @Test func oneThatWasNamedIsThere() throws {
        let missing = problems(read("etc/pipelines", .file(scratch.path("etc/none.yaml"))))
        #expect(missing.count == 1 && missing[0].contains("etc/none.yaml:1:1: error: cannot open"), "\(missing)")
        #expect(
            problems(read("etc/pipelines", .file(scratch.path("etc")))) == [
                "etc:1:1: error: is a folder, not a file; move it away"
            ])
    }

    @Test(.enabled(if: geteuid() == 0)) func oneOfAStrangerIsRefused() throws {
        try scratch.write("stall: 1m", to: "etc/dropmill.yaml")
        #expect(chown(scratch.path("etc/dropmill.yaml").string, 65_534, 65_534) == 0)
        let found = problems(read())
        #expect(found.count == 1 && found[0].contains("who is not trusted to set up the daemon"), "\(found)")
        #expect(problems(read("etc/pipelines", .file(scratch.path("etc/dropmill.yaml")))).isEmpty)
        // It is trusted as the pipelines beside it are.
        #expect(chown(scratch.path("etc/pipelines").string, 65_534, 65_534) == 0)
        #expect(problems(read()).isEmpty)
    }

    @Test func oneThatEverybodyMayWriteIsRefused() throws {
        try scratch.write("stall: 1m", to: "etc/dropmill.yaml")
        #expect(chmod(scratch.path("etc/dropmill.yaml").string, 0o666) == 0)
        let found = problems(read())
        #expect(found.count == 1 && found[0].contains("is writable by everybody"), "\(found)")
    }

    /// What Dropmill publishes is its own file with a sender's words.
    @Test(.enabled(if: geteuid() == 0)) func aNameThatAStrangerGaveAFileOfOursIsRefused() throws {
        try scratch.write("control_group_may: change\ncontrol_group: root", to: "out/drop.yaml")
        let (file, name) = (scratch.path("out/drop.yaml"), scratch.path("etc/dropmill.yaml"))
        #expect(symlink(file.string, name.string) == 0)
        #expect(problems(read()).isEmpty, "a link of ours is an administrator's")
        #expect(lchown(name.string, 65_534, 65_534) == 0)
        let linked = problems(read())
        #expect(linked.count == 1 && linked[0].contains("who is not trusted to set up the daemon"), "\(linked)")
        #expect(unlink(name.string) == 0 && link(file.string, name.string) == 0)
        let named = problems(read())
        #expect(named.count == 1 && named[0].contains("more than one hard link"), "\(named)")
    }

    @Test func whatChangedInItIsADifference() throws {
        let before = read()
        try scratch.write("stall: 1m", to: "etc/dropmill.yaml")
        let after = read()
        #expect(after.differences(from: before).map(\.file) == [scratch.path("etc/dropmill.yaml")])
        #expect(before.differences(from: after).count == 1)
    }
}

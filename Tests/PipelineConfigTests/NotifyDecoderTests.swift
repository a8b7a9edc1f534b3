import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineConfig

/// `notify` in `dropmill.yaml`: what it says, and what is wrong with it.
@Suite struct NotifyDecoderTests {
    private let scratch: ScratchFolder
    private let loader = PipelineLoader(
        registry: FakeStages.registry, environment: ["TOPIC": "https://ntfy.example/s3cr3t"], cores: 2)

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n", to: "pipelines/press.yaml")
        try scratch.write("https://hc.example/s3cr3t\n", to: "hc")
        try scratch.write("https://hc.example/s3cr3t\n", to: "open")
        try scratch.write("no address\n", to: "nonsense")
        for name in ["hc", "nonsense"] { chmod(scratch.path(name).string, 0o600) }
        chmod(scratch.path("open").string, 0o644)
    }

    private func read(_ text: String) throws -> PipelineFiles {
        try scratch.write(text, to: "dropmill.yaml")
        return PipelineLoader.read([scratch.path("pipelines")], settings: .beside)
    }

    private func plan(_ text: String) throws -> NotifyPlan { try loader.settings(of: try read(text)).notify }

    @Test func anExampleIsRead() throws {
        let plan = try plan(
            """
            notify:
              - on: [failed, paused, quiet: 26h]
                pipelines: ["press*"]
                to: { ntfy: "https://ntfy.example/press", headers: { Authorization: "Bearer ${file:hc}" } }
                digest: 10m
              - on: stalled
                to: { mail: [ops@example.org, root] , from: dropmill@example.org }
              - { on: [disk-low], to: { run: [page, --now] } }
              - { on: [disk-low], to: { webhook: "${env:TOPIC}", body: '{"text": "{title}: {message}"}' } }
              - ping: { url: "${file:hc}", every: 1m }
            """)
        #expect(plan.rules.map(\.number) == [1, 2, 3, 4] && plan.pings.map(\.number) == [5])
        let first = plan.rules[0]
        #expect(first.events == [.failed, .paused, .quiet] && first.quiet == .seconds(26 * 3600))
        #expect(first.concerns("press-a") && !first.concerns("scans") && first.digest == .seconds(600))
        #expect(first.target.shown == "ntfy https://ntfy.example/…")
        #expect(plan.rules[1].events == [.stalled] && plan.rules[1].digest == .seconds(300))
        #expect(plan.rules[1].target.recipients == ["ops@example.org", "root"])
        #expect(plan.rules[2].target.command == ["page", "--now"])
        #expect(plan.rules[3].target.shown == "webhook ${env:TOPIC}")
        let filled = plan.rules[3].target.body?.filled { "<\($0.rawValue)>" }
        #expect(filled == #"{"text": "<title>: <message>"}"#)
        #expect(plan.pings[0].every == .seconds(60) && plan.pings[0].shown == "ping ${file:hc}")
        #expect(!"\(plan)".contains("s3cr3t"), "no secret shows")
    }

    /// A rule is the same one where only its address or its rhythm is another.
    @Test func aRuleIsKnownByWhatItTells() throws {
        let one = try plan("notify: [{ on: [failed, paused], to: { ntfy: https://a.example/x } }]").rules[0]
        let same = try plan(
            """
            notify:
              - { on: stalled, to: { mail: a@b } }
              - { on: [paused, failed], to: { ntfy: https://b.example/y }, digest: 1h }
            """
        ).rules[1]
        let other = try plan("notify: [{ on: [failed], to: { ntfy: https://a.example/x } }]").rules[0]
        #expect(one.kin == same.kin && one.identity != same.identity && one.kin != other.kin)
        let patient = try plan("notify: [{ on: [quiet: 48h], to: { mail: a@b } }]").rules[0]
        let hasty = try plan("notify: [{ on: [quiet: 26h], to: { mail: a@b } }]").rules[0]
        #expect(patient.identity == hasty.identity, "its time may be corrected")
        let twins = try plan(
            """
            notify:
              - { on: failed, to: { ntfy: https://a.example/x } }
              - { on: failed, to: { ntfy: https://b.example/x } }
            """
        ).rules
        #expect(twins[0].identity == other.identity && twins[1].identity != twins[0].identity)
        let turned = try plan(
            """
            notify:
              - { on: failed, to: { ntfy: "https://b.example/x?auth=${env:TOPIC}" } }
              - { on: failed, to: { ntfy: https://a.example/x } }
              - { on: failed, to: { ntfy: https://a.example/x } }
            """
        ).rules
        #expect(turned[1].identity == twins[0].identity && turned[0].identity == twins[1].identity)
        #expect(Set(turned.map(\.identity)).count == 3, "those that are alike in all are told apart by their order")
    }

    @Test func aPatternOfNoPipelineIsAWarning() throws {
        let plan = try plan("notify: [{ on: failed, pipelines: ['pres', 'p*'], to: { mail: root } }]")
        #expect(
            plan.warnings(among: ["press", "scans"]) == [
                "notify[1].pipelines: no pipeline matches 'pres'; did you mean 'press'?"
            ])
    }

    @Test(arguments: [
        ("on: [faild], to: { mail: root }", 12, "'faild' is not one of failed, paused, resumed"),
        ("on: [faild], to: { mail: root }", 12, "did you mean 'failed'?"),
        ("on: [quiet], to: { mail: root }", 12, "write 'quiet: 26h'"),
        ("on: [quiet: 0s], to: { mail: root }", 19, "too short; write at least 1s"),
        ("on: [failed: 3m], to: { mail: root }", 12, "only 'quiet' does"),
        ("on: [], to: { mail: root }", 7, "the list is empty"), ("to: { mail: root }", 5, "needs 'on'"),
        ("on: failed", 5, "'notify[1]' needs 'to', where its messages go: one of ntfy, apprise, webhook, mail, run"),
        ("on: failed, to: {}", 19, "says no way"),
        ("on: failed, to: { mail: root, ntfy: 'https://a.example/x' }", 37, "has both 'mail' and 'ntfy'"),
        ("on: failed, to: { mial: root }", 25, "did you mean 'mail'?"),
        ("on: failed, to: { mail: root }, digest: 0s", 47, "too short"),
        ("on: failed, to: { mail: root }, digest: 5", 47, "is not a duration"),
        ("on: failed, to: { mail: root }, pipelines: ['{a']", 51, "not a valid pattern"),
        ("on: failed, to: { ntfy: press }", 31, "this is not a URL with a host; begin with https://"),
        ("on: failed, to: { ntfy: 'ftp://a.example/x' }", 31, "is not a URL with a host"),
        ("on: failed, to: { ntfy: 'https:///x' }", 31, "is not a URL with a host"),
        ("on: failed, to: { ntfy: '${file:gone}' }", 31, "the secret file '"),
        ("on: failed, to: { ntfy: '${file:gone}' }", 31, "cannot be read: No such file"),
        ("on: failed, to: { ntfy: '${file:open}' }", 31, "is readable by others; run 'chmod 600' on it"),
        ("on: failed, to: { ntfy: '${file:nonsense}' }", 31, "what this stands for is not a URL"),
        ("on: failed, to: { ntfy: '${env:NONE}' }", 31, "'NONE' is not set"),
        (
            "on: failed, to: { ntfy: 'http://a.example/x', headers: { Authorization: '${file:hc}' } }", 31,
            "a secret would be sent to a.example unencrypted"
        ),
        (
            "on: failed, to: { ntfy: 'http://a.example/x', headers: { Authorization: Bearer s3cr3t } }", 31,
            "a secret would be sent to a.example unencrypted"
        ),
        ("on: failed, to: { webhook: 'http://u:s3cr3t@a.example/x' }", 34, "to a.example unencrypted"),
        ("ping: { url: 'http://a.example/?token=s3cr3t' }", 20, "to a.example unencrypted"),
        ("on: failed, to: { mail: 'a b@c' }", 31, "is not an address"),
        ("on: failed, to: { mail: '-oQ/tmp' }", 31, "is not an address"),
        ("on: failed, to: { mail: root, body: x }", 37, "is for 'webhook' only"),
        ("on: failed, to: { run: 'page now' }", 30, "write a list, such as [page, now]"),
        ("on: failed, to: { webhook: 'https://a.example', body: '{mesage}' }", 61, "did you mean '{message}'?"),
        ("ping: { url: 'https://a.example/x' }, on: failed", 45, "has both 'ping' and 'on'"),
        ("ping: {}", 7, "needs 'url'"), ("ping: { url: 'https://a.example/x', every: 0s }", 50, "without a pause"),
        ("ping: { url: x }", 20, "is not a URL with a host"),
    ])
    func whatIsWrongIsSaidWithItsPlace(entry: String, column: Int, words: String) throws {
        let files = try read("notify:\n  - { \(entry) }\n")
        let error = #expect(throws: ConfigProblems.self) { _ = try loader.settings(of: files) }
        let found = error?.all ?? []
        #expect(found.count == 1 && found.first?.message.contains(words) == true, "\(found)")
        #expect(found.first.map { [$0.position.line, $0.position.column] } == [2, column], "\(found)")
        #expect(!"\(found)".contains("s3cr3t"))
    }

    @Test func anotherValueThanAMapIsAProblem() throws {
        for text in ["notify: yes", "notify: [1]", "notify: { to: 5, on: failed }"] {
            let files = try read(text)
            #expect(throws: ConfigProblems.self) { _ = try loader.settings(of: files) }
        }
        #expect(try plan("notify: ~").isEmpty && plan("notify: []").isEmpty)
        #expect(try plan("notify: { on: failed, to: { mail: root } }").rules.count == 1, "one needs no list")
    }
}

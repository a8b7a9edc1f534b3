import Files
import PipelineKit
import SystemPackage
import Testing

@testable import PipelineConfig

@Suite struct PipelineDecoderTests {
    /// What a whole pipeline needs; six lines, so that what a test adds begins in line 7.
    static let head = """
        inbox: in
        processed: done
        failed: failed
        stages:
          - checksum

        """ + "\n"

    static func read(_ text: String, environment: [String: String] = [:]) -> (draft: PipelineDraft?, problems: [String])
    {
        let (root, syntax) = YAMLReader.read(Array(text.utf8))
        var expansion = EnvironmentExpansion(environment)
        var decoder = PipelineDecoder(source: "/conf/scans.yaml", registry: FakeStages.registry, cores: 4)
        let draft = root.map { decoder.decode(expansion.expand($0)) }
        let all = (syntax + expansion.problems + decoder.problems).sorted { $0.position < $1.position }
        return (draft, all.map { "\($0.position.line):\($0.position.column): \($0.message)" })
    }

    @Test func everythingElseHasADefault() throws {
        let read = Self.read(Self.head)
        #expect(read.problems == [])
        let pipeline = try #require(read.draft?.pipeline)
        #expect(pipeline.name == "scans")
        #expect(pipeline.source == "/conf/scans.yaml")
        #expect(pipeline.inbox == "/conf/in")
        #expect(pipeline.processed == .folder("/conf/done"))
        #expect(pipeline.failed == "/conf/failed")
        #expect(pipeline.work == nil)
        #expect(pipeline.match == MatchRule())
        #expect(pipeline.ready == ReadyRule())
        #expect(pipeline.onConflict == .rename)
        #expect(pipeline.order == .arrival)
        #expect(pipeline.activeJobs == 1024)
        #expect(pipeline.activeBytes == nil)
        #expect(pipeline.retry == RetryPolicy())
        #expect(pipeline.durability == .full)
        #expect(pipeline.minFree == ByteSize("256MiB"))
        #expect(pipeline.stages[0].timeout == nil)
        #expect(pipeline.stages[0].retry == nil)
        #expect(pipeline.stages.map(\.kind) == ["checksum"])
        #expect(pipeline.stages.map(\.workers) == [1])
        #expect(pipeline.stages[0].when == nil)
    }

    @Test func everyKeyIsRead() throws {
        let text = """
            name: scans-2
            inbox: ../in
            processed: delete
            failed: /srv/failed/./x/..
            match: { include: "*.{zip,pdf}", exclude: [a*, b?], depth: 3 }
            ready: { quiet: 250ms, writers: ignore, marker: ~, timeout: ~, unit: file, empty: fail }
            order: oldest
            on_conflict: fail
            active: { jobs: 8, bytes: 1GiB }
            retry: { attempts: 5, backoff: 250ms }
            work: .work
            trust: [/srv/shared, ../out]
            durability: fast
            min_free: 2GB
            stages:
              - unpack:
              - checksum: { algorithm: md5, workers: auto, timeout: 90s, retry: { attempts: 1, max_backoff: 1h } }
              - move:
                  to: out/{stem}
                  workers: 3
                  when: "*.zip"
            """
        let read = Self.read(text)
        #expect(read.problems == [])
        let pipeline = try #require(read.draft?.pipeline)
        #expect(pipeline.name == "scans-2")
        #expect(pipeline.inbox == "/in")
        #expect(pipeline.processed == .delete)
        #expect(pipeline.failed == "/srv/failed")
        #expect(pipeline.match.include.map(\.pattern) == ["*.{zip,pdf}"])
        #expect(pipeline.match.exclude.map(\.pattern) == ["a*", "b?"])
        #expect(pipeline.ready == ReadyRule(quiet: .milliseconds(250), writers: .ignore, empty: .fail))
        #expect(pipeline.onConflict == .fail)
        #expect(pipeline.match.depth == 3)
        #expect(pipeline.order == .oldest)
        #expect(pipeline.activeJobs == 8)
        #expect(pipeline.activeBytes == ByteSize("1GiB"))
        #expect(pipeline.work == "/conf/.work")
        #expect(pipeline.trust == ["/srv/shared", "/out"])
        #expect(pipeline.durability == .fast)
        #expect(pipeline.minFree == ByteSize(bytes: 2_000_000_000))
        #expect(pipeline.retry == RetryPolicy(attempts: 5, backoff: .milliseconds(250)))
        #expect(pipeline.stages.map(\.timeout) == [nil, .seconds(90), nil])
        let own = RetryPolicy(attempts: 1, backoff: .milliseconds(250), maxBackoff: .seconds(3600))
        #expect(pipeline.stages.map(\.retry) == [nil, own, nil])
        #expect(pipeline.stages.map(\.kind) == ["unpack", "checksum", "move"])
        #expect(pipeline.stages.map(\.workers) == [1, 4, 3])
        #expect(pipeline.stages[2].when?.names.map(\.pattern) == ["*.zip"])
        #expect((pipeline.stages[1].stage as? FakeStages.Checksum)?.algorithm == .md5)
        #expect((pipeline.stages[2].stage as? FakeStages.Move)?.to.fixedFolder == "/conf/out/")
    }

    @Test(arguments: [
        // Keys and kinds of value.
        ("inbx: a", "7:1: unknown key 'inbx'; did you mean 'inbox'?"),
        (
            "colour: red",
            "7:1: unknown key 'colour'; known keys: name, inbox, processed, failed, stages, match, ready, order, "
                + "scan, on_conflict, active, weight, hours, zone, outside, limit, fair, priority, aging, retry, work, "
                + "formerly, trust, durability, min_free, keep, upload, max_upload, "
                + "on_failure, ownership, mode, owner, group"
        ),
        ("<<: {a: b}", "7:1: unknown key; known keys: \(PipelineDecoder.keys.joined(separator: ", "))"),
        ("match: '*'", "7:8: 'match' must be a map of include, exclude, depth; found '*'"),
        ("match: { includ: a }", "7:10: 'match' has no key 'includ'; did you mean 'include'?"),
        // Values.
        ("name: a b", "7:7: 'name': 'a b' is not a valid name; \(plainName)"),
        ("name: .a", "7:7: 'name': '.a' is not a valid name; \(plainName)"),
        ("name: a/b", "7:7: 'name': 'a/b' is not a valid name; \(plainName)"),
        (
            "name: \(String(repeating: "a", count: 65))",
            "7:7: 'name': '\(String(repeating: "a", count: 65))' is not a valid name; \(plainName)"
        ),
        ("name: [a]", "7:7: 'name': expected a string, found a list"),
        ("trust: ''", "7:8: 'trust': expected a folder, found an empty string"),
        ("trust: [/a, ~/x]", "7:13: 'trust': '~' is not expanded; write '${HOME}/…' or the path in full"),
        ("work: ''", "7:7: 'work': expected a folder, found an empty string"),
        ("work: \"a\\0\"", "7:7: 'work': a path must not contain a NUL"),
        ("work: ~/x", "7:7: 'work': '~' is not expanded; write '${HOME}/…' or the path in full"),
        (
            "match: { include: [] }",
            "7:19: 'match.include': the list is empty, so nothing would be taken; leave it out to take everything"
        ),
        (
            "match: { exclude: ['{a'] }",
            "7:20: 'match.exclude': '{a' is not a valid pattern; close its braces, and keep it below 1000 alternatives"
        ),
        (
            "ready: { quiet: 0s }",
            "7:17: 'ready.quiet': a drop must stand unchanged for some time to be complete; write at least 1ms"
        ),
        (
            "match: { include: [a, '*.tmp'] }",
            "7:23: 'match.include': '*.tmp' matches only names that are never taken (its name marks it as "
                + "a temporary file); leave it out"
        ),
        (
            "ready: { quiet: 5 }",
            "7:17: 'ready.quiet': '5' is not a duration; write a number and a unit, such as 250ms, 1s, 15m or 24h"
        ),
        ("ready: { writers: wiat }", "7:19: 'ready.writers': 'wiat' is not one of wait, ignore; did you mean 'wait'?"),
        ("ready: { empty: no }", "7:17: 'ready.empty': 'no' is not one of process, fail, ignore"),
        (
            "on_conflict: renam",
            "7:14: 'on_conflict': 'renam' is not one of rename, replace, fail; did you mean 'rename'?"
        ),
        ("active: { jobs: 0 }", "7:17: 'active.jobs': expected at least 1, found 0"),
        ("active: { jobs: many }", "7:17: 'active.jobs': expected a whole number, found 'many'"),
        ("durability: slow", "7:13: 'durability': 'slow' is not one of full, fast"),
        // What does not exist yet, and its wrong values.
        (
            "order: nam",
            "7:8: 'order': 'nam' is not one of arrival, name, oldest, smallest, largest; did you mean 'name'?"
        ),
        ("match: { depth: 0 }", "7:17: 'match.depth': expected at least 1, found 0"),
        ("match: { depth: some }", "7:17: 'match.depth': expected a whole number or 'all', found 'some'"),
        (
            "ready: { marker: '{job}.done' }",
            "7:18: 'ready.marker': a marker is derived from its drop's name: use only {name}, {stem} and {ext}, as in "
                + "'{name}.done'"
        ),
        (
            "ready: { marker: '{name}' }",
            "7:18: 'ready.marker': '{name}' is the drop's own name; add an ending, as in '{name}.done'"
        ),
        (
            "ready: { manifest: SHA256SUMS }",
            "7:20: 'ready.manifest': only a folder can contain a manifest; add 'unit: folder', or leave it out"
        ),
        (
            "ready: { marker: '{nam}.done' }",
            "7:18: 'ready.marker': unknown placeholder '{nam}'; did you mean '{name}'?"
        ),
        (
            "ready: { quiet: 10s, timeout: 5s }",
            "7:31: 'ready.timeout': no drop can be complete within 5.0 s, because it must stand unchanged for 10.0 s "
                + "(ready.quiet); write a longer time"
        ),
        (
            "ready: { timeout: 1x }",
            "7:19: 'ready.timeout': '1x' is not a duration; write a number and a unit, such as 250ms, 1s, 15m or 24h"
        ),
        ("ready: { unit: tree }", "7:16: 'ready.unit': 'tree' is not one of file, folder"),
        (
            "active: { bytes: big }",
            "7:18: 'active.bytes': 'big' is not a size; write a number and a unit, such as 512KiB, 10MiB or 2GB"
        ),
        ("retry: 3", "7:8: 'retry' must be a map of attempts, backoff, max_backoff; found '3'"),
        ("retry: { attempts: 101 }", "7:20: 'retry.attempts': expected at most 100, found 101"),
        ("retry: { backoff: 1h }", "7:10: 'retry': \(tooLongAWait("1 h", "15 min"))"),
        ("retry: { backoff: 9s, max_backoff: 3s }", "7:23: 'retry': \(tooLongAWait("9.0 s", "3.0 s"))"),
        (
            "min_free: lots",
            "7:11: 'min_free': 'lots' is not a size; write a number and a unit, such as 512KiB, 10MiB or 2GB"
        ),
        ("retry: { attempts: 0 }", "7:20: 'retry.attempts': expected at least 1, found 0"),
        // The environment.
        ("work: ${NOWHERE}", "7:7: the environment variable 'NOWHERE' is not set; set it or write ${NOWHERE:-default}"),
        ("work: ${A", "7:7: '${' without '}'; write ${VAR} or ${VAR:-default}"),
        ("work: ${A-b}", "7:7: '${A…}' is not a variable; write ${VAR} or ${VAR:-default}"),
        ("work: '${}'", "7:7: '${}' is not a variable; write ${VAR} or ${VAR:-default}"),
    ])
    func mistakesInKeys(line: String, message: String) {
        #expect(Self.read(Self.head + line + "\n").problems.first == message)
        // An unset variable leaves an empty folder behind, which is told too.
        if !line.contains("${") { #expect(Self.read(Self.head + line + "\n").problems.count == 1) }
    }

    private static func tooLongAWait(_ first: String, _ longest: String) -> String {
        "backoff (\(first)) is longer than max_backoff (\(longest)); make max_backoff at least as long"
    }

    private static let plainName = "use at most 64 letters, digits, '-', '_' and '.', with no dot in front"

    @Test(arguments: [
        ("- unpak", "5:5: unknown stage 'unpak'; did you mean 'unpack'?"),
        ("- frobnicate", "5:5: unknown stage 'frobnicate'; known stages: unpack, checksum, move"),
        ("- checksum: { algo: md5 }", "5:17: stage 'checksum' has no option 'algo'; did you mean 'algorithm'?"),
        (
            "- checksum: { algorithm: sha257 }",
            "5:28: 'algorithm': 'sha257' is not one of sha256, md5; did you mean 'sha256'?"
        ),
        ("- checksum: { algorithm: md5, strict: true }", "5:5: md5 is weak; use sha256"),
        (
            "- checksum: md5",
            "5:15: stage 'checksum' takes a map of algorithm, strict, workers, timeout, retry, when; found 'md5'"
        ),
        ("- move", "5:5: stage 'move' needs the option 'to': where to publish"),
        ("- move: { too: out }", "5:13: stage 'move' has no option 'too'; did you mean 'to'?"),
        ("- move: { to: 'a/{stm}' }", "5:17: 'to': unknown placeholder '{stm}'; did you mean '{stem}'?"),
        (
            "- checksum:\n    algorithm: md5",
            "6:5: 'algorithm' is beside 'checksum', not inside it; indent it further than 'checksum'"
        ),
        ("- checksum:\n    move: { to: a }", "6:5: 'checksum' and 'move' are in one stage; begin each stage with '- '"),
        ("- []", "5:5: expected a stage, found a list; write '- kind' or '- kind: { option: value }'"),
        ("- {}", "5:5: expected a stage, found a map; write '- kind' or '- kind: { option: value }'"),
        ("-", "5:4: expected a stage, found nothing; write '- kind' or '- kind: { option: value }'"),
        ("- checksum: { workers: 0 }", "5:26: 'checksum.workers': expected at least 1, found 0"),
        ("- checksum: { workers: 257 }", "5:26: 'checksum.workers': expected at most 256, found 257"),
        ("- checksum: { workers: many }", "5:26: 'checksum.workers': expected a whole number or 'auto', found 'many'"),
        ("- checksum: { workers: { fleet: 0 } }", "5:35: 'checksum.workers.fleet': expected at least 1, found 0"),
        ("- checksum: { workers: { flet: 2 } }", "5:28: 'checksum.workers' has no key 'flet'; did you mean 'fleet'?"),
        (
            "- checksum: { workers: {} }",
            "5:17: 'checksum.workers' needs 'fleet': how many jobs all nodes together work on at once"
        ),
        (
            "- checksum: { when: '{a' }",
            "5:23: 'checksum.when': '{a' is not a valid pattern; close its braces, and keep it below 1000 alternatives"
        ),
        (
            "- checksum: { timeout: 0 }",
            "5:26: 'checksum.timeout': the timeout must not be zero; leave it out for no limit"
        ),
        (
            "- checksum: { timeout: 1 }",
            "5:26: 'checksum.timeout': '1' is not a duration; write a number and a unit, such as 250ms, 1s, 15m or 24h"
        ),
        ("- checksum: { retry: { attempts: 0 } }", "5:36: 'checksum.retry.attempts': expected at least 1, found 0"),
        ("- checksum: { retry: { backoff: 1h } }", "5:26: 'checksum.retry': \(tooLongAWait("1 h", "15 min"))"),
        (
            "- checksum: { retry: { attempt: 2 } }",
            "5:26: 'checksum.retry' has no key 'attempt'; did you mean 'attempts'?"
        ),
    ])
    func mistakesInStages(entry: String, message: String) {
        #expect(Self.read("inbox: in\nprocessed: done\nfailed: failed\nstages:\n  \(entry)\n").problems == [message])
    }

    @Test(arguments: [
        (
            "- a\n",
            ["1:1: a pipeline file must be a map of \(PipelineDecoder.keys.joined(separator: ", ")); found a list"]
        ),
        (
            "name: a\n",
            [
                "1:1: 'inbox' is missing: the folder to watch",
                "1:1: 'failed' is missing: the folder for originals that failed",
                "1:1: 'processed' is missing: the folder for originals that succeeded, or 'delete'",
                "1:1: 'stages' is missing: the list of what is done with each drop",
            ]
        ),
        ("inbox: in\nprocessed: p\nfailed: f\nstages: []\n", ["4:9: 'stages' is empty; name at least one stage"]),
        (
            "inbox: in\nprocessed: p\nfailed: f\nstages: unpack\n",
            ["4:9: 'stages' must be a list; begin each stage with '- '"]
        ),
        (
            "inbox: [a]\nprocessed: p\nfailed: {}\nstages: [move, unpak]\norder: size\n",
            [
                "1:8: 'inbox': expected a string, found a list",
                "3:9: 'failed': expected a string, found a map",
                "4:10: stage 'move' needs the option 'to': where to publish",
                "4:16: unknown stage 'unpak'; did you mean 'unpack'?",
                "5:8: 'order': 'size' is not one of arrival, name, oldest, smallest, largest",
            ]
        ),
    ])
    func severalProblemsAtOnce(text: String, messages: [String]) {
        #expect(Self.read(text).problems.sorted() == messages.sorted())
        #expect(Self.read(text).draft?.pipeline == nil)
    }

    @Test(arguments: [("1", 1), ("12", 12), ("all", Int.max)]) func depths(text: String, depth: Int) {
        #expect(Self.read(Self.head + "match: { depth: \(text) }").draft?.match.depth == depth)
    }

    @Test(arguments: Pipeline.Order.allCases) func orders(order: Pipeline.Order) {
        #expect(Self.read(Self.head + "order: \(order.rawValue)").draft?.order == order)
    }

    @Test func theEnvironmentIsRead() throws {
        let text =
            Self.head + """
                name: ${NAME}-x-${EMPTY:-e}-${UNSET:-u}
                work: "${ROOT}/w"
                active:
                  jobs: ${JOBS:-12}
                  bytes: "${UNSET:-~}"
                """
        let read = Self.read(text, environment: ["NAME": "n", "EMPTY": "", "ROOT": "/srv"])
        let noSize = "'~' is not a size; write a number and a unit, such as 512KiB, 10MiB or 2GB"
        #expect(read.problems == ["11:10: 'active.bytes': \(noSize)"])
        #expect(read.draft?.name?.value == "n-x-e-u")
        #expect(read.draft?.work?.value == "/srv/w")
        #expect(read.draft?.activeJobs == 12)
        #expect(Self.read(Self.head + "work: a$b$$\n").draft?.work?.value == "/conf/a$b$$")
        #expect(Self.read(Self.head + "work: ${X:-}\n").draft?.work == nil)
    }
}

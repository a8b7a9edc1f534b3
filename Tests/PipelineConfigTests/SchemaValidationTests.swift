import BuiltinStages
import Files
import PipelineConfig
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// A Python with a validator of schemas.
private enum Validator {
    static let python = Tool.python(with: "jsonschema, yaml")
}

/// The schema through the eyes of a validator that editors use.
@Suite(.enabled(if: Validator.python != nil, "needs python3-jsonschema and python3-yaml"))
struct SchemaValidationTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(PipelineSchema(.builtin).json, to: "schema.json")
        try scratch.write(SettingsSchema.json, to: "settings.json")
        try scratch.write(Self.program, to: "validate.py")
    }

    /// Prints the files that are not valid, one to a line, each with the first reason.
    private static let program = """
        import json, jsonschema, sys, yaml
        with open(sys.argv[1]) as file: schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for path in sys.argv[2:]:
            with open(path) as file: errors = validator.iter_errors(yaml.safe_load(file))
            problem = jsonschema.exceptions.best_match(errors)
            if problem: print(path.rsplit("/", 1)[1], "/".join(map(str, problem.absolute_path)), problem.message[:200])
        """

    /// What the validator has against these files.
    private func problems(_ files: [FilePath], by schema: String = "schema.json") throws -> String {
        let arguments = ["validate.py", schema].map { scratch.path($0).string } + files.map(\.string)
        let output = try #require(Validator.python).run(arguments)
        try #require(output.status == 0, "\(output.text)")
        return output.text
    }

    private func file(_ name: String, _ text: String) throws -> FilePath {
        try scratch.write("inbox: in\nprocessed: done\nfailed: failed\n\(text)\n", to: name)
    }

    @Test func settingsAreCheckedByTheirOwn() throws {
        let all = try scratch.write("control_group: press\ncontrol_group_may: change\nstall: 90s\n", to: "all.yaml")
        let other = try scratch.write("control_group: 1000\nstall: ${STALL}\n", to: "other.yaml")
        // To this parser a bare `on` is a truth value, as in YAML 1.1.
        let notify = try scratch.write(
            """
            notify:
              - { "on": [failed, quiet: 26h], pipelines: "p*", to: { ntfy: "https://a.example" }, digest: 5m }
              - { "on": paused, to: { mail: [a@b, root], from: c@d } }
              - { ping: { url: "${file:hc}", every: 1m } }
            """, to: "notify.yaml")
        #expect(try problems([all, other, notify], by: "settings.json") == "")
        let texts = [
            "stal: 1m", "stall: 0s", "control_group_may: write", "notify: [{ \"on\": [faild] }]",
            "notify: [{ to: { mial: x } }]",
        ]
        let wrong = try texts.enumerated().map { number, text in
            try scratch.write(text, to: "wrong-\(number).yaml")
        }
        #expect(try problems(wrong, by: "settings.json").split(separator: "\n").count == 5)
    }

    @Test func everyShippedPipelineIsValid() throws {
        let folder = FilePath(#filePath).removingLastComponent().pushing("../../pipelines").lexicallyNormalized()
        let files = try Folder.names(in: folder).map { folder.appending($0) }
        #expect(files.count >= 8)
        #expect(try problems(files) == "")
    }

    @Test func everyExampleIsValid() throws {
        let files = try StageRegistry.builtin.descriptors.map { descriptor in
            try file("\(descriptor.kind).yaml", "stages:\n  - \(descriptor.example)")
        }
        #expect(try problems(files) == "")
    }

    /// `processed` and the others of the head, each in the place of what it has there.
    @Test(arguments: [
        ("processed: 'done/{date:%Y}'", true), ("failed: 'x/{path}'", true), ("inbox: 'in/{date}'", false),
        ("inbox: ''", false), ("failed: ''", false), ("inbox: ~", false), ("processed: delete", true),
        ("processed: '~/x'", false),
    ])
    func folders(line: String, isRight: Bool) throws {
        let key = line.prefix { $0 != ":" }
        let head = ["inbox: in", "processed: done", "failed: failed"].map { $0.hasPrefix("\(key):") ? line : $0 }
        let text = (head + ["stages: [{move: {to: out}}]", ""]).joined(separator: "\n")
        let path = try scratch.write(text, to: "one.yaml")
        #expect(try problems([path]).isEmpty == isRight)
        let loader = PipelineLoader(registry: .builtin, environment: [:], cores: 2)
        var isTaken = true
        do throws(ConfigProblems) { _ = try loader.load([path]) } catch { isTaken = false }
        #expect(isTaken == isRight)
    }

    // MARK: The same judgement as `check`

    /// What is added to a head of `inbox`, `processed` and `failed`.
    private static let right = [
        "stages: [checksum: { workers: '${WORKERS:-auto}', when: { larger: 1 MiB } }]\nmin_free: 0",
        "stages: [unpack, {move: {to: x}}]", "stages: [{checksum: }]", "stages: [{checksum: ~}]",
        "work: ~\nmatch:\nready: ~\nactive:\nretry: ~\nmin_free: ~\non_failure:\norder: ~\nstages: [checksum]",
        "match: {include: '*.a', exclude: [], depth: all}\nstages: [checksum]", "match: {depth: 3}\nstages: [checksum]",
        "ready: {marker: ~, timeout: ~, quiet: 1.5s, unit: folder, manifest: '*SUMS'}\nstages: [checksum]",
        "fair: {by: owner, weight: {root: 3}, active: 9}\nstages: [checksum]",
        "priority: [{match: a, level: -5}]\naging: 2h\nstages: [checksum]",
        "active: {jobs: 256, bytes: ~}\nstages: [checksum]", "active: {bytes: 5}\nstages: [checksum]",
        "trust: ~\nstages: [checksum]", "trust: [/srv, x]\nstages: [checksum]",
        "order: largest\ntrust: /srv\nmin_free: 1.5GiB\non_conflict: fail\ndurability: fast\nstages: [checksum]",
        "durability: '${D:-fast}'\nactive:\n  jobs: ${J:-5}\nmin_free: ${F:-1GiB}\nstages: [checksum]",
        "retry: {attempts: 1, backoff: 0, max_backoff: 250ms}\nstages: [checksum]", "name: 5\nstages: [checksum]",
        "stages: [{checksum: {workers: auto, timeout: 5m, retry: ~, when: ~, manifest: ~}}]",
        "stages: [{checksum: {workers: {fleet: 3}}}]",
        "stages: [{checksum: {workers: 2, when: ['*.a', '*.b']}}]", "stages: [{checksum: {when: {larger: 1MiB}}}]",
        "stages: [{checksum: {algorithm: [sha256, md5]}}]", "stages: [{checksum: {when: {name: '*.a', not: [b, c]}}}]",
        "stages: [{http: {url: 'http://x', headers: {A: b, C: 1}}}]", "stages: [{run: {command: a}}]",
        "stages: [{run: {command: [a, 1, true], env: {A: 1}, transient: [1, 2]}}]",
        "stages: [{bag: {info: {A: b, C: [d, e]}}}, {move: {to: x}}]", "stages: [{copy: {to: [a, b]}}]",
        "stages: [checksum]\non_failure: {run: {command: [a]}}",
        "stages: [checksum]\non_failure: [{run: {command: a}}]", "name: A_b-1.2\nstages: [checksum]",
        "stages: [checksum]\non_failure: [{run: {command: a, retry: ~}}, {dedupe: {seen: skip}}]",
        "work: '${W:-w}/x'\nstages: [checksum]", "ownership: keep\nmode: ~\nstages: [checksum]",
        "mode: '0640'\nstages: [checksum]", "ready: {unit: folder}\nmatch: {depth: 1}\nstages: [checksum]",
        "ready: {unit: folder}\nmatch: {depth: ~}\nstages: [checksum]",
        "stages: [{compress: {format: zip, level: 9}}, {move: {to: x}}]",
        "stages: [{verify: {digest: 'md5:900150983cd24fb0d6963f7d28e17f72'}}]", "stages: [{dedupe: {window: 30d}}]",
        "stages: [{unpack: {max_bytes: 2GiB, formats: [zip, tar]}}, {move: {to: x}}]",
        "mode: 640\nstages: [checksum]", "mode: 777\nstages: [checksum]",
        "stages: [{unpack: {mode: 700}}, {move: {to: x}}]",
        "stages: [{unpack: {mode: '0750', max_bytes: 1}}, {move: {to: x}}]",
        "stages: [{unpack: {mode: '${M:-0700}'}}, {move: {to: x}}]",
        "stages: [{http: {url: 'HTTPS://x/{name}'}}]", "stages: [{scan: {socket: 'localhost:3310'}}]",
        "stages: [{verify: {digest: 'blake2b-8:00'}}]", "stages: [{checksum: {manifest: 5}}]",
        "ready: {marker: '{name}.done'}\nstages: [checksum]", "ready: {marker: READY}\nstages: [checksum]",
    ]

    private static let wrong = [
        "stages: [checksum]\nnobody: x", "stages: [unpack, 3]", "stages: [checksum: { algo: sha256 }]",
        "stages: [unpack: { require: maybe }, move: { to: x }]",
        "stages: []", "stages: ~", "stages: checksum", "stages: [move]", "stages: [{move: }]", "stages: [frobnicate]",
        "stages: [{checksum: {}, unpack: {}}]", "stage: [checksum]\nstages: [checksum]",
        "ready: {quite: 1s}\nstages: [checksum]", "ready: {unit: fold}\nstages: [checksum]",
        "ready: {quiet: 1}\nstages: [checksum]", "match: {includes: ['*']}\nstages: [checksum]",
        "match: {include: []}\nstages: [checksum]", "match: {depth: some}\nstages: [checksum]",
        "fair: {by: owner, weight: {root: 0}}\nstages: [checksum]", "priority: a\nstages: [checksum]",
        "active: {job: 3}\nstages: [checksum]", "active: {jobs: 0}\nstages: [checksum]",
        "order: random\nstages: [checksum]", "min_free: lots\nstages: [checksum]",
        "retry: {attempts: 0}\nstages: [checksum]", "stages: [{checksum: {workers: foo}}]",
        "stages: [{checksum: {workers: {fleet: 0}}}]", "stages: [{checksum: {workers: {}}}]",
        "stages: [{checksum: {workers: {fleet: 2, node: 1}}}]", "stages: [{checksum: {workers: {fleet: ~}}}]",
        "stages: [{checksum: {workers: 0}}]", "stages: [{checksum: {workers: '2'}}]",
        "stages: [{checksum: {timeout: soon}}]", "stages: [{checksum: {timeout: 5}}]",
        "stages: [{checksum: {algorithm: []}}]", "stages: [{checksum: {algorithm: [md5, md5]}}]",
        "stages: [{checksum: {algorithm: md6}}]", "stages: [{checksum: {when: {larger: [1MiB]}}}]",
        "stages: [{checksum: {when: {bigger: 1MiB}}}]", "stages: [{http: {url: 'http://x', headers: {A: [b, c]}}}]",
        "stages: [{http: {url: 'http://x', method: put}}]", "stages: [{run: {command: []}}]",
        "stages: [{run: {command: [a], env: {A: [b]}}}]", "stages: [{run: {command: [a], env: {A: ~}}}]",
        "stages: [{run: {command: [a], transient: 0}}]", "stages: [{copy: {to: []}}]",
        "stages: [{verify: {require: 'true'}}]", "stages: [{verify: {digest: abc}}]",
        "stages: [{compress: {level: 23}}, {move: {to: x}}]", "stages: [checksum]\non_failure: [{move: {to: x}}]",
        "stages: [{unpack: {max_bytes: many}}, {move: {to: x}}]", "stages: [{unpack: {formats: []}}, {move: {to: x}}]",
        "stages: [{dedupe: {window: long}}]", "name: .a\nstages: [checksum]", "name: a/b\nstages: [checksum]",
        "name: ''\nstages: [checksum]", "work: ''\nstages: [checksum]", "work: ~/x\nstages: [checksum]",
        "work: 'x/{date}'\nstages: [checksum]", "trust: ['']\nstages: [checksum]", "mode: '0999'\nstages: [checksum]",
        "mode: '0440'\nstages: [checksum]", "mode: rw\nstages: [checksum]",
        "ownership: keep\nmode: '0640'\nstages: [checksum]", "ownership: keep\nowner: root\nstages: [checksum]",
        "ready: {manifest: '*SUMS'}\nstages: [checksum]",
        "ready: {unit: file, manifest: '*SUMS'}\nstages: [checksum]",
        "ready: {unit: folder}\nmatch: {depth: all}\nstages: [checksum]", "ready: {quiet: 0}\nstages: [checksum]",
        "ready: {quiet: 0s}\nstages: [checksum]", "stages: [{checksum: {timeout: 0}}]",
        "stages: [checksum]\non_failure: [{run: {command: a, retry: {attempts: 2}}}]",
        "stages: [checksum]\non_failure: {run: {command: a, retry: {attempts: 2}}}",
        "stages: [checksum]\non_failure: {run: {command: a}, http: {url: 'http://x/', body: report}}",
        "mode: 256\nstages: [checksum]", "mode: 416\nstages: [checksum]", "mode: 511\nstages: [checksum]",
        "mode: 680\nstages: [checksum]", "stages: [{unpack: {mode: '0999'}}]", "stages: [{unpack: {mode: 999}}]",
        "stages: [{unpack: {max_bytes: 0}}]", "stages: [{unpack: {max_entry: 0MiB}}]",
        "stages: [{verify: {digest: 'sha256:00'}}]", "stages: [{verify: {digest: 'blake2b-7:00'}}]",
        "stages: [{checksum: {manifest: a/b}}]", "stages: [{scan: {socket: ''}}]", "stages: [{move: {to: ''}}]",
        "stages: [{copy: {to: [a, '']}}]", "stages: [{http: {url: 'ftp://x'}}]",
        "ready: {marker: '{name}'}\nstages: [checksum]", "ready: {marker: 'x/{name}'}\nstages: [checksum]",
        "stages: [checksum]\non_failure: [compress]", "stages: [checksum]\non_failure: {}",
    ]

    @Test func itJudgesAsCheckDoes() throws {
        let loader = PipelineLoader(registry: .builtin, environment: [:], cores: 2)
        let texts = Self.right + Self.wrong
        let files = try texts.enumerated().map { index, text in try file("pipeline-\(index).yaml", text) }
        let refused = Set(try problems(files).split(separator: "\n").compactMap { $0.split(separator: " ").first })
        for (index, text) in texts.enumerated() {
            let isRight = index < Self.right.count
            var isTaken = true
            do throws(ConfigProblems) { _ = try loader.load([files[index]]) } catch { isTaken = false }
            #expect(isTaken == isRight, "check: \(text)")
            #expect(refused.contains("pipeline-\(index).yaml") != isRight, "the schema: \(text)")
        }
    }
}

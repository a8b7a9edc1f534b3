import BuiltinStages
import FoundationEssentials
import PipelineConfig
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct PipelineSchemaTests {
    private indirect enum Value: Decodable {
        case map([String: Value])
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do { self = .map(try container.decode([String: Value].self)) } catch { self = .other }
        }

        subscript(key: String) -> Value? {
            if case .map(let members) = self { members[key] } else { nil }
        }
    }

    @Test func everyKindWithEveryOptionIsInIt() throws {
        let json = PipelineSchema(.builtin).json
        let root = try JSONDecoder().decode(Value.self, from: Data(json.utf8))
        #expect(root["properties"]?["on_failure"] != nil)
        #expect(root["$defs"]?["when"] != nil)
        for descriptor in StageRegistry.builtin.descriptors {
            #expect(json.contains("\"\(descriptor.kind)\":{\"description\""), "\(descriptor.kind)")
            for option in descriptor.options { #expect(json.contains("\"\(option.name)\":{\"description\"")) }
        }
    }

    // MARK: The same judgement as `check`

    /// What is added to a head of `inbox`, `processed` and `failed`.
    private static let right = [
        "stages: [unpack, {move: {to: x}}]", "stages: [{checksum: }]", "stages: [{checksum: ~}]",
        "work: ~\nmatch:\nready: ~\nactive:\nretry: ~\nmin_free: ~\non_failure:\norder: ~\nstages: [checksum]",
        "match: {include: '*.a', exclude: [], depth: all}\nstages: [checksum]", "match: {depth: 3}\nstages: [checksum]",
        "ready: {marker: ~, timeout: ~, quiet: 1.5s, unit: folder, manifest: '*SUMS'}\nstages: [checksum]",
        "active: {jobs: 256, bytes: ~}\nstages: [checksum]", "active: {bytes: 5}\nstages: [checksum]",
        "order: largest\nmin_free: 1.5GiB\non_conflict: fail\ndurability: fast\nstages: [checksum]",
        "durability: '${D:-fast}'\nactive:\n  jobs: ${J:-5}\nmin_free: ${F:-1GiB}\nstages: [checksum]",
        "retry: {attempts: 1, backoff: 0, max_backoff: 250ms}\nstages: [checksum]", "name: 5\nstages: [checksum]",
        "stages: [{checksum: {workers: auto, timeout: 5m, retry: ~, when: ~, manifest: ~}}]",
        "stages: [{checksum: {workers: 2, when: ['*.a', '*.b']}}]", "stages: [{checksum: {when: {larger: 1MiB}}}]",
        "stages: [{checksum: {algorithm: [sha256, md5]}}]", "stages: [{checksum: {when: {name: '*.a', not: [b, c]}}}]",
        "stages: [{http: {url: 'http://x', headers: {A: b, C: 1}}}]", "stages: [{run: {command: a}}]",
        "stages: [{run: {command: [a, 1, true], env: {A: 1}, transient: [1, 2]}}]",
        "stages: [{bag: {info: {A: b, C: [d, e]}}}, {move: {to: x}}]", "stages: [{copy: {to: [a, b]}}]",
        "stages: [checksum]\non_failure: {run: {command: [a]}}",
        "stages: [checksum]\non_failure: [{run: {command: a}}]",
        "stages: [{compress: {format: zip, level: 9}}, {move: {to: x}}]",
        "stages: [{verify: {digest: 'md5:900150983cd24fb0d6963f7d28e17f72'}}]", "stages: [{dedupe: {window: 30d}}]",
        "stages: [{unpack: {max_bytes: 2GiB, formats: [zip, tar]}}, {move: {to: x}}]",
    ]

    private static let wrong = [
        "stages: []", "stages: ~", "stages: checksum", "stages: [move]", "stages: [{move: }]", "stages: [frobnicate]",
        "stages: [{checksum: {}, unpack: {}}]", "stage: [checksum]\nstages: [checksum]",
        "ready: {quite: 1s}\nstages: [checksum]", "ready: {unit: fold}\nstages: [checksum]",
        "ready: {quiet: 1}\nstages: [checksum]", "match: {includes: ['*']}\nstages: [checksum]",
        "match: {include: []}\nstages: [checksum]", "match: {depth: some}\nstages: [checksum]",
        "active: {job: 3}\nstages: [checksum]", "active: {jobs: 0}\nstages: [checksum]",
        "order: random\nstages: [checksum]", "min_free: lots\nstages: [checksum]",
        "retry: {attempts: 0}\nstages: [checksum]", "stages: [{checksum: {workers: foo}}]",
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
        "stages: [{dedupe: {window: long}}]",
    ]

    /// Says of each file that is named whether it is valid, in a line.
    private static let validator = """
        import json, jsonschema, sys, yaml
        validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
        for name in sys.argv[2:]:
            print(validator.is_valid(yaml.safe_load(open(name))))
        """

    private static func hasValidator() -> Bool {
        do throws(IOError) {
            return try Tool.find("python3")?.run(["-c", "import jsonschema, yaml"]).status == 0
        } catch {
            return false
        }
    }

    @Test(.enabled(if: hasValidator(), Comment(rawValue: Tool.skip("Python's jsonschema and yaml"))))
    func itJudgesAsCheckDoes() throws {
        let scratch = try ScratchFolder()
        let schema = try scratch.write(PipelineSchema(.builtin).json, to: "schema.json")
        let loader = PipelineLoader(registry: .builtin, environment: [:], cores: 2)
        var names: [String] = []
        for (number, text) in (Self.right + Self.wrong).enumerated() {
            let file = try scratch.write(
                "inbox: in\nprocessed: done\nfailed: failed\n\(text)\n", to: "pipeline\(number).yaml")
            names.append(file.string)
            let isRight: Bool
            do throws(ConfigProblems) {
                _ = try loader.load([file])
                isRight = true
            } catch {
                isRight = false
            }
            #expect(isRight == (number < Self.right.count), "check: \(text)")
        }
        let python = try #require(Tool.find("python3"))
        let output = try python.run(["-c", Self.validator, schema.string] + names)
        #expect(output.status == 0, "\(output.text)")
        for (text, line) in zip(Self.right + Self.wrong, output.text.split(separator: "\n")) {
            #expect(line == (Self.right.contains(text) ? "True" : "False"), "schema: \(text)")
        }
    }
}

import BuiltinStages
import PipelineConfig
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// A Python with a validator of schemas.
private enum Validator {
    static let python: Tool? = [Tool("/usr/bin/python3"), Tool.find("python3")].compactMap(\.self).first { python in
        do throws(IOError) { return try python.run(["-c", "import jsonschema, yaml"]).status == 0 } catch {
            return false
        }
    }
}

/// The schema through the eyes of a validator that editors use.
@Suite(.enabled(if: Validator.python != nil, "needs python3-jsonschema and python3-yaml"))
struct SchemaValidationTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write(PipelineSchema(.builtin).json, to: "schema.json")
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
    private func problems(_ files: [FilePath]) throws -> String {
        let arguments = ["validate.py", "schema.json"].map { scratch.path($0).string } + files.map(\.string)
        let output = try #require(Validator.python).run(arguments)
        try #require(output.status == 0, "\(output.text)")
        return output.text
    }

    private func file(_ name: String, _ text: String) throws -> FilePath {
        try scratch.write("inbox: in\nprocessed: done\nfailed: failed\n\(text)\n", to: name)
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

    /// What `check` takes the schema takes.
    @Test func whatIsRight() throws {
        let texts = [
            "stages: [unpack, move: { to: out }]", "stages: [checksum: ~]",
            "stages: [checksum]\nready: { marker: ~, quiet: 250ms, unit: file, empty: fail, timeout: 1.5h }",
            "stages: [checksum]\nwork: ~\nmatch: ~\non_failure: ~\nretry: ~",
            "stages: [checksum]\non_failure: { run: { command: [logger, x] } }",
            "stages: [checksum]\nmatch: { include: '*', depth: all }\nactive: { jobs: 3, bytes: 2GB }\nmin_free: 0",
            "stages: [checksum: { workers: auto, timeout: 5m, when: { larger: 1 MiB, name: ['*.a'] } }]",
            "stages: [checksum: { timeout: '${LONG}', algorithm: [sha256, md5] }]\norder: ${ORDER:-name}",
            "stages: [bag: { info: { Contact-Name: [a, b], Year: 2026 } }]",
            "stages: [http: { url: 'https://h/', headers: { A: b, N: 1 }, retry: { attempts: 5, backoff: 1s } }]",
        ]
        let files = try texts.enumerated().map { index, text in try file("right-\(index).yaml", text) }
        #expect(try problems(files) == "")
        let loader = PipelineLoader(
            registry: .builtin, environment: ["LONG": "5m"], cores: 2)
        for (file, text) in zip(files, texts) where !text.contains("bag:") {
            do throws(ConfigProblems) { _ = try loader.load([file]) } catch { Issue.record("\(text): \(error.all)") }
        }
    }

    @Test func whatIsWrong() throws {
        let texts = [
            "stages: []\nnobody: x", "stages: [unpak]", "stages: [checksum: { algo: sha256 }]", "stages: [move]",
            "stages: [checksum: { algorithm: sha265 }]", "stages: [checksum]\nready: { quite: 1s }",
            "stages: [checksum]\nready: { unit: fold }", "stages: [checksum]\nmatch: { includes: x }",
            "stages: [checksum]\nactive: { job: 3 }", "stages: [checksum]\norder: random",
            "stages: [checksum]\nmin_free: lots", "stages: [checksum: { workers: foo }]",
            "stages: [checksum: { workers: 0 }]", "stages: [checksum: { timeout: soon }]",
            "stages: [checksum: { timeout: 5 }]", "stages: [checksum: { when: { larger: [1MiB] } }]",
            "stages: [http: { url: 'http://h/', headers: { A: [b, c] } }]", "stages: [compress: { level: 99 }]",
            "stages: [run: { command: x, env: { A: [b] } }]", "stages: [unpack: { require: maybe }]",
            "stages: [run: { command: x, transient: 700 }]", "stages: [unpack, 3]", "stages: checksum",
        ]
        let files = try texts.enumerated().map { index, text in try file("wrong-\(index).yaml", text) }
        let found = try problems(files)
        for (file, text) in zip(files, texts) {
            #expect(found.contains("\(file.lastComponent?.string ?? "") "), "the schema takes '\(text)'")
        }
    }
}

import PipelineKit
import SystemPackage
import Testing

@testable import PipelineConfig

@Suite struct PipelineDefinitionTests {
    /// The fingerprint of a file of these stages, with further keys.
    private func definition(
        _ stages: String, keys: String = "", source: FilePath = "/conf/scans.yaml", environment: [String: String] = [:]
    ) throws -> Definition {
        let text = "inbox: in\nprocessed: done\nfailed: failed\n\(keys)\nstages:\n\(stages)\n"
        let (root, syntax) = YAMLReader.read(Array(text.utf8))
        var expansion = EnvironmentExpansion(environment)
        var decoder = PipelineDecoder(source: source, registry: FakeStages.registry, cores: 4)
        let draft = decoder.decode(expansion.expand(try #require(root)))
        try #require(syntax.isEmpty && decoder.problems.isEmpty)
        return try #require(draft.pipeline).definition
    }

    private static let stages = "- unpack: { require: true, when: '*.zip' }\n- move: { to: out }"

    @Test(arguments: [
        "# a comment\n- unpack:\n    when: \"*.zip\"\n    require: true   # and another\n- move:\n    to: 'out'",
        "- unpack: { require: true, when: '${NAMES}' }\n- move: { to: out }",
        "- unpack: { require: true, when: '*.zip', workers: 3, timeout: 1m, retry: { attempts: 9 } }\n"
            + "- move: { to: out, when: ~ }",
    ])
    func howItIsWrittenMakesNoDifference(stages: String) throws {
        #expect(try definition(stages, environment: ["NAMES": "*.zip"]) == definition(Self.stages))
    }

    @Test func keysThatAreNoMatterOfStagesMakeNoDifference() throws {
        let keys = "ready: { quiet: 9s }\nactive: { jobs: 2 }\nretry: { attempts: 1 }\nmin_free: 0\nname: other"
        #expect(try definition(Self.stages, keys: keys) == definition(Self.stages))
    }

    @Test(arguments: [
        "- unpack: { require: false, when: '*.zip' }\n- move: { to: out }",
        "- unpack: { when: '*.zip' }\n- move: { to: out }",
        "- unpack: { require: true, when: '*.tar' }\n- move: { to: out }",
        "- unpack: { require: true, when: '*.zip' }\n- move: { to: output }",
        "- unpack: { require: true, when: '*.zip' }\n- checksum\n- move: { to: out }",
        "- move: { to: out }\n- unpack: { require: true, when: '*.zip' }",
    ])
    func whatIsDoneMakesADifference(stages: String) throws {
        #expect(try definition(stages) != definition(Self.stages))
    }

    @Test func eachStageHasOneOfItsOwn() throws {
        let changed = "- unpack: { require: true, when: '*.zip' }\n- move: { to: output }"
        #expect(try definition(changed).sharedBeginning(with: definition(Self.stages)) == 1)
        #expect(try definition(Self.stages).stages.count == 2)
    }

    @Test func whereARelativeTargetLiesMakesADifference() throws {
        let elsewhere: FilePath = "/other/scans.yaml"
        #expect(try definition(Self.stages, source: elsewhere) != definition(Self.stages))
        #expect(try definition("- move: { to: /o }", source: elsewhere) == definition("- move: { to: /o }"))
    }

    /// Known answers of FNV-1a with 64 bits.
    @Test(arguments: [
        ("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"),
        ("foobar", "85944171f73967e8"),
    ])
    func theHashIsTheWellKnownOne(text: String, digits: String) {
        #expect(PipelineDefinition.fingerprint(of: text) == digits)
    }
}

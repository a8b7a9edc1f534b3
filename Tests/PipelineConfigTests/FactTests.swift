import BuiltinStages
import PipelineConfig
import TestSupport
import Testing

/// What stages find out may be named where it can be known, and only there; with the real kinds.
@Suite struct FactTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func problems(_ stages: String, _ more: String = "") throws -> [String] {
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nstages: \(stages)\n\(more)\n", to: "a.yaml")
        do throws(ConfigProblems) {
            _ = try PipelineLoader(registry: .builtin, environment: [:], cores: 2).load([scratch.path("a.yaml")])
            return []
        } catch {
            return error.all.map(\.message)
        }
    }

    @Test(arguments: [
        "checksum", "checksum, rename: {to: 'x-{name}'}", "checksum, select: {larger: 1MiB}",
        "checksum, run: {command: [true]}", "unpack, checksum", "dedupe",
        "checksum, compress: {when: '*.log'}", "compress, checksum",
    ])
    func whatIsKnown(before: String) throws {
        #expect(try problems("[\(before), move: {to: 'x/{sha256}'}]") == [])
    }

    @Test(arguments: [
        "unpack", "compress", "bag", "run: {command: [true], output: replace}", "run: {command: [true], output: add}",
    ])
    func whatIsForgotten(maker: String) throws {
        let kind = maker.prefix { $0 != ":" }
        #expect(
            try problems("[checksum, \(maker), move: {to: 'x/{sha256}'}]") == [
                "'to': '{sha256}' is determined from files that '\(kind)' replaces; determine it after '\(kind)'"
            ])
        #expect(
            try problems("[detect, \(maker), move: {to: x, when: {type: 'image/*'}}]") == [
                "'move.when.type' is not known here; put a stage 'detect' before this one, but after '\(kind)'"
            ])
    }

    @Test func aJobThatFailedMayHaveKnownIt() throws {
        let telling = "on_failure: [run: {command: [logger, '{sha256}'], when: {type: 'image/*'}}]"
        #expect(try problems("[detect, checksum, compress, move: {to: x}]", telling) == [])
    }

    @Test(arguments: [("{2}", 2, 1), ("{1}{9}", 9, 1)])
    func groupsThatDoNotExist(to: String, missing: Int, count: Int) throws {
        let problem = try problems("[rename: {match: '(a)', to: '\(to)'}, move: {to: x}]").first
        #expect(problem?.contains("{\(missing)}") == true, "\(problem ?? "none")")
    }

    /// A stage whose options are wrong is told of once: what it would do is not known.
    @Test(arguments: ["run: {command: 'ls -l'}", "select: {require: maybe}"])
    func aWrongOptionIsTheOnlyProblem(stage: String) throws {
        #expect(try problems("[\(stage)]").count == 1)
        #expect(try problems("[checksum]", "on_failure: [\(stage)]").count == 1)
    }
}

import BuiltinStages
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What a stage makes of a small drop by its content alone is what it makes of it by `run`; and it makes nothing else.
@Suite("Stages that need only the content") struct QuickStageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: String
        var options: Options = [:]
        var testDescription: String { "\(kind) \(options)" }
    }

    static let cases = [
        Case(kind: "checksum"),
        Case(kind: "checksum", options: ["algorithm": ["md5", "xxh3-128", "blake3", "crc32"], "format": "bsd"]),
        Case(kind: "checksum", options: ["format": "json"]), Case(kind: "checksum", options: ["format": "sfv"]),
        Case(kind: "checksum", options: ["into": "list"]),
        Case(
            kind: "checksum",
            options: ["into": "list", "algorithm": ["md5", "xxh3-64"], "manifest": "SUMS", "format": "bsd"]),
        Case(kind: "checksum", options: ["into": "list", "format": "sfv"]),
        Case(kind: "unpack"), Case(kind: "unpack", options: ["require": "true"]),
        Case(kind: "unpack", options: ["formats": ["zip"]]), Case(kind: "move", options: ["to": "out"]),
        Case(kind: "move", options: ["to": "out/{sha256}/{stem}"]),
    ]

    /// Contents, and whether they are plain: nothing that any of these stages does more for.
    static let contents: [(name: String, bytes: [UInt8], isPlain: Bool)] = {
        var tar = TarBuilder()
        tar.add(Array("member".utf8), content: [1, 2, 3])
        var zip = ZipBuilder()
        zip.add(Array("member".utf8), content: [1, 2, 3])
        return [
            ("empty", [], true), ("text.txt", Array("hello\n".utf8), true),
            ("; comment", Array("a name that SFV cannot hold".utf8), true),
            ("large.bin", (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, true),
            ("drop.tar", tar.finished, false), ("drop.zip", zip.finished, false), ("report.docx", zip.finished, false),
            ("half.zip", Array(zip.finished.suffix(40)), false),
        ]
    }()

    @Test(arguments: cases) func agreesWithRun(_ subject: Case) throws {
        for (name, bytes, isPlain) in Self.contents {
            let fixture = try StageFixture(drop: name, bytes)
            let stage = try fixture.stage(subject.kind, subject.options)
            try #require(stage.isQuick)
            var payload = fixture.payload
            payload.digests["sha256"] = String(repeating: "ab", count: 32)
            let file = try OpenFile.open(fixture.job.original, O_RDONLY)
            let passed = bytes.withUnsafeBytes { content in
                stage.pass(
                    payload, of: fixture.job, holding: SmallContent(bytes: content, descriptor: file.descriptor))
            }
            #expect(try fixture.scratch.tree("job") == [name], "it makes nothing")
            let isUsual = isPlain && !name.hasPrefix(";") && subject.options.value("require") == nil
            if isUsual { #expect(passed != nil, "\(name)") }
            guard let passed else { continue }
            let run = try? fixture.run(subject.kind, subject.options, on: payload)
            #expect(run == passed, "\(name)")
        }
    }

    @Test func othersAreNotQuick() throws {
        let fixture = try StageFixture(drop: "drop", [1])
        #expect(try !fixture.stage("rename", ["match": "a", "to": "b"]).isQuick)
        #expect(try !fixture.stage("run", ["command": ["true"]]).isQuick)
    }
}

extension Options {
    fileprivate func value(_ key: String) -> Options? {
        guard case .map(let members) = self else { return nil }
        return members.first { $0.0 == key }?.1
    }
}

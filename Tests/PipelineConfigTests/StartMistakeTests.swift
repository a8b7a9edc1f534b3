import Files
import PipelineKit
import SystemPackage
import Testing

@testable import PipelineConfig

/// The slips of a first pipeline file: each is told once, with what is meant.
@Suite struct StartMistakeTests {
    private func problems(_ text: String) -> [String] { PipelineDecoderTests.read(text).problems }

    @Test func aByteOrderMarkIsNoPartOfTheFile() {
        let read = PipelineDecoderTests.read("\u{FEFF}" + PipelineDecoderTests.head)
        #expect(read.problems == [])
        #expect(read.draft?.inbox?.value == "/conf/in")
        #expect(problems("\u{FEFF}inbx: a\n" + PipelineDecoderTests.head).first?.hasPrefix("1:1: unknown key") == true)
    }

    @Test(arguments: ["inbox", "processed", "failed", "stages"])
    func aSlipInARequiredKeyIsOneMistake(key: String) {
        let text = PipelineDecoderTests.head.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("\(key):") ? "\(key)x:\($0.dropFirst(key.count + 1))" : String($0) }
            .joined(separator: "\n")
        let problems = problems(text)
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.hasSuffix("unknown key '\(key)x'; did you mean '\(key)'?") == true)
    }

    @Test func anotherKeyIsNoSlip() {
        #expect(problems("colour: red\nprocessed: a\nfailed: b\nstages: [checksum]\n").count == 2)
    }

    @Test(arguments: [
        ("{ url: 'http://x' }", "found a map of 'url'; begin each stage with '- ', such as"),
        ("{ unpack: , checksum: }", "found a map of 'unpack', 'checksum'; begin"), ("{}", "found a map of nothing"),
        ("{ checksm: }", "unknown stage 'checksm'; did you mean 'checksum'?"),
    ])
    func aMapInPlaceOfAList(value: String, message: String) {
        let problems = problems(PipelineDecoderTests.head + "on_failure: \(value)\n")
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.contains(message) == true, "\(problems)")
    }

    @Test func aStageAloneIsAList() {
        #expect(problems(PipelineDecoderTests.head + "on_failure: { checksum: { algorithm: md5 } }\n") == [])
    }

    // MARK: Placeholders in folders

    private func head(_ key: String, _ value: String) -> String {
        ["inbox", "processed", "failed"].map { "\($0): \($0 == key ? value : $0)" }.joined(separator: "\n")
            + "\nstages: [checksum]\n"
    }

    @Test(arguments: ["processed", "failed"])
    func placeholdersThatAreKnownAtTheClaim(key: String) throws {
        let read = PipelineDecoderTests.read(head(key, "done/{date:%Y}/{path}-{pipeline}"))
        #expect(read.problems == [])
        let pipeline = try #require(read.draft?.pipeline)
        let name = try #require(FileName("a.tar"))
        let folder = try #require(FileName("sub"))
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        let job = Job(
            id: JobIDGenerator().next(at: time), pipeline: "scans",
            drop: Drop(name: name, folders: [folder], size: 1, droppedAt: time), claimedAt: time, folder: "/w")
        let template = try #require(key == "failed" ? pipeline.failedTemplate : pipeline.processedTemplate)
        // The folders that `{path}` has put in are not put in once more.
        #expect(try template.folders(for: job).map(\.text) == ["2023", "sub-scans"])
        #expect((key == "failed" ? pipeline.failed : "/conf/done") == "/conf/done")
        if key == "processed" { #expect(pipeline.processed == .folder("/conf/done")) }
        let plain = PathTemplate(try Template("x/{stem}", use: .path), below: "/conf")
        #expect(try plain.folders(for: job).map(\.text) == ["a", "sub"])
    }

    @Test(arguments: [
        ("processed", "done/{sha256}", "'{sha256}' is not known when a drop is claimed; known are: {name}"),
        ("failed", "bad/{dat}", "'{dat}' is not known when a drop is claimed; did you mean '{date}'?"),
        ("processed", "done/{date}/../x", "can lead out of its folder"),
        ("inbox", "in/{date}", "'inbox': placeholders are not allowed here, found '{date}'"),
        ("inbox", "in/{any}", "'inbox': placeholders are not allowed here, found '{any}'"),
        ("processed", "~/{date}", "'~' is not expanded"),
    ])
    func otherPlaceholders(key: String, value: String, message: String) {
        let problems = problems(head(key, "\"\(value)\""))
        #expect(problems.count == 1, "\(problems)")
        #expect(problems.first?.contains(message) == true, "\(problems)")
    }

    private func checked(_ texts: [String]) -> [String] {
        let drafts = texts.enumerated().compactMap { index, text -> PipelineDraft? in
            let source = FilePath("/conf/\(index).yaml")
            var decoder = PipelineDecoder(source: source, registry: FakeStages.registry, cores: 4)
            return YAMLReader.read(Array("name: p\(index)\n\(text)".utf8)).root.map { decoder.decode($0) }
        }
        return PipelineChecks.problems(of: drafts, among: FakeStages.registry).map(\.message)
    }

    @Test func originalsLeadIntoNobodysFolder() {
        #expect(
            checked([head("processed", "\"{date}\"")])
                == [
                    "the part before the first placeholder of 'processed' contains the inbox; give it a folder beside "
                        + "the inbox"
                ])
        #expect(checked([head("processed", "failed/{date}")]) == [])
        let other = "inbox: done/b\nprocessed: p\nfailed: q\nstages: [checksum]\n"
        #expect(
            checked([head("processed", "done/{stem}"), other]).contains {
                $0.hasPrefix("'processed' can become or contain the inbox of the pipeline in")
            })
        #expect(checked([head("processed", "done/x-{stem}"), other]) == [])
    }

    @Test func twoFoldersOfOneBeginning() {
        let text = "inbox: in\nprocessed: all/{date}/ok\nfailed: all/{date}/\(Self.bad)\nstages: [checksum]\n"
        #expect(checked([text]) == [])
        #expect(
            checked([text.replacing(Self.bad, with: "ok")]) == [
                "'failed' is the same folder as 'processed'; use two folders"
            ])
    }

    private static let bad = "bad"
}

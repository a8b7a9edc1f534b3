import Doctor
import Files
import Glibc
import PipelineConfig
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

/// What `doctor` says of the daemon's settings.
@Suite struct SettingsExaminationTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("pipelines")
    }

    private func examine(_ text: String?) throws -> (path: FilePath?, findings: [Finding]) {
        if let text { try scratch.write(text, to: "dropmill.yaml") }
        let place = SettingsExamination(
            .beside, for: [scratch.path("pipelines")], by: PipelineLoader(registry: StageRegistry([]), environment: [:])
        ).place
        return (place.path, place.findings)
    }

    @Test func whatIsFoundIsTold() throws {
        let none = try examine(nil)
        #expect(none.path == nil && none.findings.map(\.fact) == ["no dropmill.yaml was found, so all is as usual"])
        let own = AccountName.group(getegid())
        let found = try examine("control_group: \(getegid())\nstall: 2m\n")
        #expect(found.path == scratch.path("dropmill.yaml"))
        #expect(found.findings.map(\.fact) == ["the group \(own) may read, what rests for 2 min is stalled"])
        #expect(found.findings.map(\.grade) == [.good])
    }

    @Test func whereMessagesGoIsTold() throws {
        let found = try examine(
            """
            notify:
              - { on: [paused, failed], to: { run: [sh, -c, cat] } }
              - { on: failed, to: { run: no-such-program } }
              - { ping: { url: https://hc.example/s3cr3t } }
            """)
        #expect(
            found.findings.dropFirst().map(\.fact) == [
                "notify[1] (run sh) tells of failed, paused",
                "notify[2] (run no-such-program): there is no program 'no-such-program'; install it, or write its path",
                "notify[3] (ping https://hc.example/…) is told every 5 min",
            ])
        #expect(found.findings.map(\.grade) == [.good, .good, .problem, .good])
    }

    @Test func whereJobsAreArchivedIsTried() throws {
        try scratch.write("history: { archive: old }", to: "dropmill.yaml")
        func archive() -> ExaminedPlace? {
            SettingsExamination(
                .beside, for: [scratch.path("pipelines")],
                by: PipelineLoader(registry: StageRegistry([]), environment: [:])
            ).archive
        }
        #expect(archive()?.path == scratch.path("old"))
        #expect(archive()?.findings.map(\.grade) == [.problem])
        #expect(archive()?.findings.first?.fact.hasSuffix("No such file or directory") ?? false)
        #expect(archive()?.findings.first?.remedy == "Make the folder, or mount what it is on")
        try scratch.makeFolder("old")
        #expect(archive()?.findings.map(\.grade) == [.good])
        try scratch.write("stall: 1m", to: "dropmill.yaml")
        #expect(archive() == nil)
    }

    @Test func whatAStartRefusesIsAProblem() throws {
        let wrong = try examine("stal: 2m\n")
        #expect(wrong.path == scratch.path("dropmill.yaml"))
        #expect(wrong.findings.map(\.fact) == ["line 1, column 1: unknown key 'stal'; did you mean 'stall'?"])
        let folder = scratch.path("dropmill.yaml")
        #expect(unlink(folder.string) == 0)
        try scratch.makeFolder("dropmill.yaml")
        #expect(try examine(nil).findings.map(\.grade) == [.problem])
    }
}

import PipelineKit
import Testing

@testable import Doctor
@testable import DropmillCommand

@Suite struct DoctorReportTests {
    private func report(_ findings: [Finding]) -> DoctorReport {
        DoctorReport(
            user: "mill", isRunning: false,
            surroundings: [ExaminedPlace(role: "machine", path: nil, findings: [.good(.watches, "1 of 10")])],
            pipelines: [
                ExaminedPipeline(
                    name: "scans", places: [ExaminedPlace(role: "inbox", path: "/in\n", findings: findings)])
            ])
    }

    @Test func peopleReadColumnsWithRemediesBelow() {
        let report = report([
            .good(.fileSystem, "ext4"), .note(.leases, "not here"), .problem(.rights, "may not", "Give it"),
        ])
        #expect(
            report.lines == [
                "checked as mill; no daemon is running",
                "",
                "machine",
                "  ok       watches      1 of 10",
                "",
                "pipeline scans",
                #"  inbox  /in\n"#,
                "    ok       file system  ext4",
                "    note     leases       not here",
                "    problem  rights       may not",
                "                          → Give it",
                "",
                "1 problem, 1 note",
            ])
    }

    @Test func theLastLineSumsUp() {
        #expect(report([.good(.fileSystem, "ext4")]).lines.last == "all checks passed")
        #expect(report([.note(.leases, "a"), .note(.times, "b")]).lines.last == "all checks passed, 2 notes")
        #expect(report([.problem(.rights, "a", "b"), .problem(.space, "a", "b")]).lines.last == "2 problems")
    }

    @Test func programsReadStableKeys() {
        #expect(
            report([.problem(.rights, "may not", "Give it")]).json == #"""
                {"user":"mill","running":false,"problems":1,"surroundings":[{"role":"machine","findings":\#
                [{"check":"watches","grade":"ok","fact":"1 of 10"}]}],"pipelines":[{"name":"scans","folders":\#
                [{"role":"inbox","path":"/in\n","findings":[{"check":"rights","grade":"problem","fact":"may not",\#
                "remedy":"Give it"}]}]}]}
                """#)
    }
}

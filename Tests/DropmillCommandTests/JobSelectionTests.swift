import ArgumentParser
import Files
import Journal
import TestSupport
import Testing

@testable import DropmillCommand

/// Which jobs the verbs change that take jobs or filters.
@Suite struct JobSelectionTests {
    private let fixture: JournalFixture

    init() throws {
        fixture = try JournalFixture()
        let records = try [(1, "a.pdf"), (2, "b.txt"), (3, "c.pdf")].map { try fixture.failedJob($0.0, $0.1) }
        try fixture.journal.write(records, pipelines: [try fixture.pipeline()])
    }

    private func run(_ arguments: String...) throws -> Tool.Output {
        try Tool(DropmillBinary.path).run(arguments + ["--state-dir", "state"], in: fixture.scratch.path)
    }

    @Test func filtersChooseWhatIsRetried() throws {
        let dry = try run("retry", "--name", "*.pdf", "--dry-run")
        #expect(dry.status == 0 && dry.text == "2 jobs, 8.0 KiB: a.pdf, c.pdf\n", "\(dry.text)")
        #expect(try fixture.scratch.tree("inbox") == [])
        let none = try run("retry", "--code", "disk.full")
        #expect(
            none.status == 1 && none.text == "no failed job that matches has its original in place\n", "\(none.text)")
        for (states, words) in [("cancelled", "cancelled"), ("failed,cancelled", "failed or cancelled")] {
            let none = try run("retry", "--state", states, "--name", "*.zip")
            #expect(none.text == "no \(words) job that matches has its original in place\n", "\(none.text)")
        }
        let unknown = try run("retry", "--pipeline", "scan")
        #expect(unknown.status == 1 && unknown.text.contains("did you mean 'scans'?"), "\(unknown.text)")
        #expect(try run("retry", "--code", "archive.damaged", "--name", "*.pdf", "--limit", "1").status == 0)
        #expect(try fixture.scratch.tree("inbox") == ["a.pdf"], "the oldest first")
        #expect(try run("retry", "--state", "failed", "--rate", "1000/s").status == 0)
        #expect(try fixture.scratch.tree("inbox") == ["a.pdf", "b.txt", "c.pdf"])
    }

    @Test func whatIsRetriedIsOnRecord() throws {
        let id = try #require(try fixture.journal.jobs(JobQuery()).last).id.text
        #expect(try run("retry", "a.pdf").status == 0)
        let audit = try run("audit").text
        #expect(audit.contains(" retry ") && audit.contains("\(id): ") && audit.contains("inbox/a.pdf"), "\(audit)")
    }

    @Test(arguments: [
        ["retry", "a.pdf", "--pipeline", "scans"], ["retry", "--state", "processed"],
        ["retry", "a.pdf", "--limit", "0"],
        ["cancel"], ["cancel", "a.pdf", "--rate", "10"], ["cancel", "a.pdf", "--rate", "0/s"],
        ["cancel", "a.pdf", "--rate", "10/d"],
    ])
    func whatMakesNoSenseIsRefused(_ arguments: [String]) throws {
        let output = try Tool(DropmillBinary.path).run(arguments, in: fixture.scratch.path)
        #expect(output.status == 64, "\(output.text)")
    }

    @Test func aPaceKeepsItsDistance() throws {
        #expect(try Pace(argument: "10/s").interval == .milliseconds(100))
        #expect(try Pace(argument: "120/m").interval == .milliseconds(500))
        #expect(try Pace(argument: "1/h").interval == .seconds(3600))
        var pace = try Pace(argument: "100/s")
        let now = MonotonicTime.now()
        #expect((1...3).map { _ in pace.rest(at: now) } == [.zero, .milliseconds(10), .milliseconds(20)])
        #expect(pace.rest(at: now + .milliseconds(25)) == .milliseconds(5))
        #expect(pace.rest(at: now + .seconds(9)) == .zero, "what was missed is not made up for")
    }
}

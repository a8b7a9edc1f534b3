import Control
import Files
import Journal
import PipelineKit
import TestSupport
import Testing

@testable import DropmillCommand

/// How failures that nobody will retry are found and dismissed, some at a time.
@Suite struct DismissRunTests {
    private let fixture: JournalFixture

    init() throws { fixture = try JournalFixture() }

    private func run(_ order: SendingOrder, most: Int = .max) throws -> DismissRun {
        try DismissRun(order, try order.query(), most: most, in: fixture.journal, by: "anna")
    }

    /// What was told, as it is on the screen.
    private func texts(_ results: [SendingVerb.Result]) -> [String] {
        results.map { "\($0.job) \($0.isDone) \($0.text ?? "")" }
    }

    @Test("Filters choose what is open, the oldest first, up to a limit")
    func filters() throws {
        var records = try (1...5).map { try fixture.failedJob($0, "\($0)") }
        records[3].failure = .calledOff(by: "anna")
        var retry = try JournalFixture.job(6, .processed, named: "2")
        retry.retryOf = records[1].id
        try fixture.journal.write(records + [retry], pipelines: [try fixture.pipeline()])
        let all = try run(SendingOrder(all: true))
        #expect(Array(all.rest) == [1, 3, 5].map { records[$0 - 1].id } && all.found?.jobs == 3)
        let two = try run(SendingOrder(all: true), most: 2)
        #expect(Array(two.rest) == [1, 3].map { records[$0 - 1].id } && two.found?.more == true)
        #expect(try run(SendingOrder(states: ["processed"])).found == nil, "they have not failed")
        #expect(try run(SendingOrder(states: ["cancelled"])).found == nil)
        var strange = try run(SendingOrder(pipeline: "scan"))
        let text = texts(strange.results()).first ?? ""
        #expect(strange.found == nil && text.hasSuffix("did you mean 'scans'?"), "\(text)")
    }

    @Test("They are dismissed some at a time, and what has become of one meanwhile is told")
    func steps() throws {
        let records = try (1...4).map { try fixture.failedJob($0, "\($0)") }
        try fixture.journal.write(records, pipelines: [try fixture.pipeline()])
        var run = try run(SendingOrder(all: true))
        try run.goOn(2)
        #expect(texts(run.results()) == records[..<2].map { "\($0.id.text) true dismissed" })
        #expect(run.rest.count == 2 && run.results().isEmpty && run.text.hasPrefix("2 dismissed, 2 left; "))
        var retry = try JournalFixture.job(5, .processed, named: "3")
        retry.retryOf = records[2].id
        try fixture.journal.write([retry], pipelines: [])
        try run.goOn(DismissRun.atOnce)
        let told = texts(run.results())
        #expect(told[0].hasPrefix("\(records[2].id.text) false it was already retried, as "), "\(told)")
        #expect(told[1] == "\(records[3].id.text) true dismissed" && run.rest.isEmpty)
        #expect(run.text.hasPrefix("3 dismissed, 1 not dismissed; "), "\(run.text)")
        #expect(try fixture.journal.job(records[3].id)?.dismissed?.by == "anna")
    }

    @Test("Of what is named that is told which cannot be dismissed, or was")
    func names() throws {
        let failed = try fixture.failedJob(1, "a")
        let done = try JournalFixture.job(2, .processed, named: "b")
        try fixture.journal.write([failed, done], pipelines: [try fixture.pipeline()])
        let order = SendingOrder(jobs: ["a", failed.id.text, "b", "c"])
        var run = try run(order)
        #expect(Array(run.rest) == [failed.id])
        let refused = texts(run.results())
        #expect(refused.count == 2 && refused.allSatisfy { $0.contains(" false ") }, "\(refused)")
        try run.goOn(DismissRun.atOnce)
        var again = try self.run(SendingOrder(jobs: ["a"]))
        let told = texts(again.results())
        #expect(again.rest.isEmpty && told[0].contains(" true was dismissed already, by anna on "), "\(told)")
    }
}

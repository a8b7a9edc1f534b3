import PipelineKit
import TestSupport
import Testing

@testable import Control
@testable import Journal

/// What may be done with a job, and why the rest may not.
@Suite struct JobChoicesTests {
    private func choices(
        _ state: JobRecord.State, retries: [JobRecord] = [], isHeld: Bool = false, node: String? = nil,
        _ change: (inout JobRecord) -> Void = { _ in }
    ) throws -> [String: String] {
        var record = try JournalFixture.job(1, state)
        record.original = state.isFinal ? "/failed/report.pdf" : nil
        change(&record)
        let all = JobChoices(record, retries: retries, isHeld: isHeld, node: node).all
        return Dictionary(uniqueKeysWithValues: all.map { ($0.verb, $0.refusal ?? "") })
    }

    @Test("What is over can be sent in again, once, where its original is known")
    func over() throws {
        #expect(try choices(.failed) == ["retry": "", "dismiss": ""])
        #expect(try choices(.processed) == ["replay": ""])
        #expect(try choices(.lost).isEmpty)
        #expect(try choices(.failed) { $0.original = nil }["retry"]?.contains("drop it again") == true)
        #expect(try choices(.processed) { $0.original = nil }["replay"]?.contains("not kept") == true)
        let next = try JournalFixture.job(2, .processed)
        #expect(try choices(.failed, retries: [next])["retry"]?.contains(next.id.text) == true)
        let released = try choices(.failed) { $0.failure = .released(by: "anna") }
        #expect(released.values.allSatisfy { $0.hasPrefix("it was released") } && released.count == 2)
        let dismissed = try choices(.failed) { $0.dismissed = Dismissal(by: "anna", at: JournalFixture.noon) }
        #expect(dismissed["retry"] == "" && dismissed["dismiss"]?.contains("by anna") == true)
    }

    @Test("What is unfinished can be cancelled until it is settled, and goes back only where nothing takes it again")
    func unfinished() throws {
        #expect(try choices(.queued, isHeld: true) == ["cancel": "", "bump": "", "release": ""])
        #expect(try choices(.queued)["release"]?.contains("pause it first") == true)
        #expect(try choices(.running, isHeld: true)["release"]?.contains("is running") == true)
        let elsewhere = try choices(.running, node: "mill-1") { $0.node = "mill-2" }
        #expect(elsewhere.values.allSatisfy { $0.hasPrefix("the node 'mill-2' has it") } && elsewhere.count == 3)
        #expect(try choices(.queued, isHeld: true, node: "mill-1") { $0.node = "mill-1" }["cancel"] == "")
        #expect(try choices(.running)["bump"] == "its stage is running")
        #expect(try choices(.deferred)["bump"] == "it waits for its next attempt")
        #expect(try choices(.settling, isHeld: true).values.allSatisfy { $0.hasPrefix("too late") })
        let cancelled = try choices(.settling) { $0.failure = .calledOff(by: "anna") }
        #expect(cancelled.values.allSatisfy { $0 == "it is cancelled" } && cancelled.count == 3)
    }
}

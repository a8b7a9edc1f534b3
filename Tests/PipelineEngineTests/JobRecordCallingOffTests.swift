import Files
import Journal
import PipelineKit
import Testing

@testable import PipelineEngine

/// A job that is called off where no daemon has it.
@Suite("Calling off without a daemon") struct JobRecordCallingOffTests {

    @Test(
        "It is being settled from then on, and its history says who",
        arguments: [
            JobRecord.State.queued, .running, .deferred,
        ])
    func unfinished(_ state: JobRecord.State) throws {
        var record = try JournalSamples.job(1)
        let waits = CallingOff.waits("no daemon runs its pipeline '\(record.pipeline)'")
        record.state = state
        #expect(record.callOff(by: "anna", at: .now()) == waits)
        #expect(record.progress == .settling(.failed(.calledOff(by: "anna"))))
        #expect(record.nextAttempt == nil)
        #expect(record.history.last?.note == "by anna")
        let once = record
        #expect(record.callOff(by: "bob", at: .now()) == waits && record == once, "once is enough")
    }

    @Test("What is over, being settled or left alone stays as it is")
    func others() throws {
        func outcome(_ change: (inout JobRecord) -> Void) throws -> CallingOff {
            var record = try JournalSamples.job(1)
            change(&record)
            let before = record
            defer { #expect(record == before) }
            return record.callOff(by: "anna", at: .now())
        }
        #expect(try outcome { $0.state = .processed } == .absent("it is over: processed"))
        #expect(try outcome { $0.state = .settling } == .tooLate)
        let left = try outcome {
            $0.state = .settling
            $0.history.append(Transition(JobRecord.leftAlone, at: .now()))
        }
        #expect(left.text.contains("'dropmill forget"))
    }
}

import Files
import Journal
import PipelineKit
import TestSupport
import Testing

/// The one sentence of jobs that failed alike.
@Suite("Sentence of a group of failures") struct FailureSentenceTests {
    private func job(_ name: String, _ failure: Failure) throws -> JobRecord {
        let id = JobIDGenerator().next()
        let drop = Drop(name: try name.fileName, size: 1, droppedAt: id.time)
        let job = Job(id: id, pipeline: "covers", drop: drop, claimedAt: id.time, folder: "/work/a")
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        (record.state, record.failure) = (.failed, failure)
        return record
    }

    private func ran(_ name: String, _ status: Int = 3) throws -> JobRecord {
        let program = "/usr/local/bin/pdfx-check"
        return try job(
            name,
            .file(
                "run.failed", "The program '\(program)' exited with status \(status) for '\(name)'.",
                remedy: "Check '\(name)'."))
    }

    @Test("What is the same in all stays, names and what differs do not")
    func group() throws {
        let alike = FailureSentence(of: [try ran("a.pdf"), try ran("b.pdf")])
        #expect(alike?.summary == "The program '/usr/local/bin/pdfx-check' exited with status 3 for '…'.")
        #expect(alike?.remedy == "Check '…'.")
        let other = FailureSentence(of: [try ran("a.pdf", 3), try ran("b.pdf", 4)])
        #expect(other?.summary == "The program '/usr/local/bin/pdfx-check' exited with status … for '…'.")
        #expect(FailureSentence(of: [try ran("a.pdf")])?.summary == alike?.summary, "also of one alone")
        #expect(FailureSentence(of: []) == nil)
    }

    @Test("Names within what was filled in, at the end of paths, and without templates")
    func names() throws {
        let fact = "The type of 'a' cannot be told"
        let within = try job("a", .file("x", "\(fact): it took too long."))
        #expect(FailureSentence(of: [within])?.summary == "The type of '…' cannot be told: it took too long.")
        let path = try job("a", Failure(inStage: IOError("open", "/in/a", .permissionDenied)))
        #expect(FailureSentence(of: [path])?.summary == "cannot open '…': Permission denied.")
        let old = ["a", "b"].map { name in (name, Failure.file("x", String("'\(name)' is a mess."))) }
        #expect(FailureSentence(of: try old.map { try job($0, $1) })?.summary == "'…' is a mess.")
    }

    @Test("Of sentences of several kinds the most frequent, then the newest is told")
    func kinds() throws {
        let rare = try job("c", .file("run.failed", "It is gone."))
        #expect(FailureSentence(of: [rare, try ran("a"), try ran("b")])?.summary.hasPrefix("The program") == true)
        #expect(FailureSentence(of: [rare, try ran("a")])?.summary == "It is gone.")
    }

    @Test("On record a failure has its templates, and what an older version wrote is read")
    func coding() throws {
        let failure = try #require(try ran("it's' for 'b").failure)
        var json = JSONText()
        json.failure(failure)
        #expect(
            json.string.contains(
                #""summary_template":"The program '{}' exited with status {} for '{}'.""#), "\(json.string)")
        let read = try #require(JSONValue(json.string)?.failure)
        #expect(read == failure && read.summarySentence == failure.summarySentence)
        #expect(read.remedySentence == failure.remedySentence)
        let old = #"{"class":"file","code":"a.b","summary":"It's so.","remedy":"Do it."}"#
        #expect(JSONValue(old)?.failure?.summarySentence.arguments == [])
        json = JSONText()
        json.failure(try #require(JSONValue(old)?.failure))
        #expect(json.string == old)
    }
}

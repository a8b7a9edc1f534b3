import PipelineKit
import SystemPackage
import Testing

@testable import Journal
@testable import PipelineEngine

@Suite("Active job") struct ActiveJobTests {
    private var job: ActiveJob {
        get throws {
            let id = JobIDGenerator().next()
            let drop = Drop(name: try "a".fileName, size: 1, droppedAt: id.time)
            let job = Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: "/work/a")
            let record = JobRecord(claimed: job, identity: .unknown, definition: "")
            return ActiveJob(job, record: record)
        }
    }

    private func full(_ code: String, _ free: Int) -> Failure {
        Failure(.environment, code: code, summary: "Only \(free) bytes are free.", remedy: "")
    }

    @Test("A long pause is one entry of the history, with the number and the last time")
    func repeats() throws {
        var job = try job
        for free in 1...1000 { job.failed("unpack", in: .zero, because: full("space.floor", free)) }
        #expect(job.record.history.count == 1)
        let only = try #require(job.record.history.first)
        #expect(only.times == 1000)
        #expect(only.note == "Only 1 bytes are free.")
        #expect(try #require(only.lastAt) >= only.at)
    }

    @Test("Another reason, another stage and what is tried again for good are entries of their own")
    func tellsApart() throws {
        var job = try job
        job.failed("unpack", in: .zero, because: full("space.floor", 1))
        job.failed("unpack", in: .zero, because: full("io.full", 1))
        job.failed("checksum", in: .zero, because: full("io.full", 1))
        for _ in 1...2 {
            job.failed(
                "checksum", in: .zero,
                because: Failure(.transient, code: "timeout", summary: "It took too long.", remedy: ""))
        }
        #expect(job.record.history.map(\.times) == [1, 1, 1, 1, 1])
    }

    @Test("A stage that ends the job leaves what was copied before, and nothing of what was made")
    func ends() throws {
        var job = try job
        var payload = Payload(file: try "made".fileName, in: "/work/a/.1-fake")
        payload.copies = [
            PayloadCopy(
                path: "/work/a/.2-copy/1/made", of: payload.path, isFolder: false, sidecars: [], destination: "/out")
        ]
        payload.isDone = true
        job.stageSucceeded("dedupe", in: .zero, giving: payload, saying: nil)
        let kept = try #require(job.record.payload)
        #expect(kept.isDrop && kept.isDone)
        #expect(kept.copies == payload.copies)
    }
}

import Files
import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine

/// How producers stand.
@Suite("Standing of producers", .timeLimit(.minutes(5))) struct ProducerStandingTests {
    @Test("What waits, is under way and is over counts for its producer")
    func all() async throws {
        let scratch = try ScratchFolder()
        let gate = Gate()
        let failing = StageEntry.fake { (payload, _) throws(Failure) in
            guard payload.path.lastComponent?.string != "bad" else {
                throw Failure(.file, code: "bad", summary: "It is bad.")
            }
            return payload
        }
        let engine = try EngineHarness(scratch: scratch, stages: [failing, gate.entry]) {
            ($0.fair, $0.match.depth) = (FairRule(by: .folder), 2)
            $0.fair?.active = 1
        }
        try engine.start()
        try scratch.write("content", to: "inbox/acme/bad")
        #expect(await eventually { engine.reports.count == 1 })
        for path in ["acme/1", "acme/2", "acme/3", "zeta/1"] { try scratch.write("content", to: "inbox/\(path)") }
        #expect(await eventually { engine.claimed.count == 3 })
        #expect(await eventually { await engine.producers().map(\.waiting) == [2, 0] })
        let standing = await engine.producers()
        #expect(standing.map(\.producer) == ["acme", "zeta"] && standing.map(\.active) == [1, 1])
        #expect(standing[0].failed == 1 && standing[0].processed == 0 && standing.allSatisfy { $0.oldest != nil })
        gate.open()
        #expect(await eventually { engine.reports.count == 5 })
        #expect(await eventually { await engine.producers().allSatisfy { $0.active == 0 && $0.oldest == nil } })
        #expect(await engine.producers().map(\.processed) == [3, 1])
        _ = await engine.stop()
    }

    @Test("Those that come when ten thousand are there are counted together")
    func many() {
        var tally = ProducerTally()
        for number in 0..<10_050 { tally.end(of: "p\(number)", hasFailed: false) }
        tally.end(of: "p1", hasFailed: true)
        #expect(tally.ends.count == 10_001 && tally.ends["(others)"]?.processed == 50)
        #expect(tally.ends["p1"] == .init(processed: 1, failed: 1))
    }
}

import Glibc
import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine

/// Who drops are from.
@Suite("Producers", .timeLimit(.minutes(5))) struct ProducerTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let lanes: [StageEntry] = [
        .passing, .quick({ (payload, _) throws(Failure) in payload }, { (payload, _) in payload }),
    ]

    private func producer(of name: String, _ harness: EngineHarness) -> String? {
        harness.claimed.last { $0.drop.name.text == name }?.producer
    }

    @Test("The owner at the claim, in both lanes", arguments: lanes.indices)
    func owner(lane: Int) async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [Self.lanes[lane]])
        try harness.start()
        try harness.drop("own")
        #expect(await eventually { harness.reports.count == 1 })
        #expect(producer(of: "own", harness) == CurrentUser.name)
        guard geteuid() == 0 else {
            _ = await harness.stop()
            return
        }
        for (user, name) in [(65534, AccountName.user(65534)), (54321, "54321")] {
            let path = try scratch.write("content", to: "elsewhere")
            #expect(path.withPlatformString { chown($0, uid_t(user), gid_t(user)) } == 0)
            #expect(rename(path.string, scratch.path("inbox/\(user)").string) == 0)
            #expect(await eventually { harness.reports.contains { $0.job.drop.name.text == "\(user)" } })
            #expect(producer(of: "\(user)", harness) == name)
        }
        _ = await harness.stop()
    }

    @Test(
        "The next run knows it, though the drop was taken over",
        .enabled(if: geteuid() == 0, "only root has other users' files"))
    func nextRun() async throws {
        let gate = Gate()
        let harness = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try harness.start()
        let path = try scratch.write("content", to: "elsewhere")
        #expect(path.withPlatformString { chown($0, 54321, 54321) } == 0)
        #expect(rename(path.string, scratch.path("inbox/a").string) == 0)
        let job = try await harness.job("a")
        #expect(await eventually { harness.started == [job] })
        _ = await harness.stop()
        let count = harness.claimed.count
        gate.open()
        try harness.start()
        #expect(await eventually { harness.reports.count == 1 })
        #expect(harness.claimed.count == count + 1 && producer(of: "a", harness) == "54321")
        _ = await harness.stop()
    }
}

import Dispatch
import Files
import Journal
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Jobs of a removed pipeline that are released while a reload adds it again.
@Suite("Releasing beside a reload", .timeLimit(.minutes(5))) struct ReleaseBesideReloadTests {
    private let scratch: ScratchFolder
    private let harness: EngineHarness

    init() throws {
        scratch = try ScratchFolder()
        harness = try EngineHarness(scratch: scratch, stages: [.passing])
    }

    private func pipeline(_ name: String) -> Pipeline {
        let stage = StageEntry.fake { (_, _) throws(Failure) in
            throw Failure(.transient, code: "later", summary: "Not now.")
        }
        return Pipeline(
            name: name, source: FilePath("\(name).yaml"), inbox: scratch.path("\(name)/inbox"),
            processed: .folder(scratch.path("\(name)/processed")), failed: scratch.path("\(name)/failed"),
            ready: harness.pipeline.ready,
            retry: RetryPolicy(attempts: 5, backoff: .seconds(600), maxBackoff: .seconds(600)), durability: .fast,
            stages: [stage])
    }

    /// Jobs of a pipeline that is not loaded any more.
    private func leave(_ count: Int, in gone: Pipeline) async throws -> [JobID] {
        try harness.start()
        _ = try harness.reload([harness.pipeline, gone])
        for number in 0..<count { try scratch.write("\(number)", to: "\(gone.name)/inbox/\(number)") }
        #expect(
            await eventually {
                harness.events.count { if case .deferred = $0 { true } else { false } } == count
            })
        _ = try harness.reload([harness.pipeline])
        #expect(await eventually { harness.retired == 0 })
        let ids = harness.claimed.map(\.id)
        #expect(await eventually { ids.allSatisfy { (try? harness.record($0)?.state) == .deferred } })
        return ids
    }

    /// What was released before the reload has locked its folders.
    @Test("The reload takes up no job that was released just before it came to it")
    func read() async throws {
        let (gone, other) = (pipeline("gone"), pipeline("other"))
        let id = try #require(try await leave(1, in: gone).first)
        let (journal, writer) = (try #require(harness.journal), try #require(harness.writer))
        // Then it warns, before it opens the next.
        try scratch.makeFolder("other/inbox")
        let lock = try FolderLock(other.inbox, describedAs: "the inbox")
        defer { lock.release() }
        let outcome = Mutex<Releasing?>(nil)
        harness.listen { event in
            guard case .warning("other", _) = event, outcome.withLock({ $0 }) == nil else { return }
            let released = LoneRelease(journal, writer).release(id, by: "anna")
            outcome.withLock { $0 = released }
        }
        _ = try harness.reload([harness.pipeline, other, gone])
        #expect(outcome.withLock { $0 } == .went(gone.inbox.appending("0")))
        #expect(try harness.record(id)?.failure == .released(by: "anna"))
        #expect(await eventually { harness.claimed.count == 2 })
        #expect(!harness.warnings.contains { $0.contains("gone from the work folder") }, "\(harness.warnings)")
        _ = await harness.stop()
    }

    @Test("While it is under way a job that it may load is not released, and nothing advises to give it up")
    func underWay() async throws {
        let (gone, other) = (pipeline("gone"), pipeline("other"))
        let id = try #require(try await leave(1, in: gone).first)
        try scratch.makeFolder("other/inbox")
        let lock = try FolderLock(other.inbox, describedAs: "the inbox")
        defer { lock.release() }
        let outcomes = Mutex<[String]>([])
        harness.listen { [harness] event in
            guard case .warning("other", _) = event, outcomes.withLock({ $0.isEmpty }) else { return }
            do {
                let texts = try [
                    harness.release([id]).first?.text, harness.callOff([id]).first?.text, harness.bump(id),
                ]
                outcomes.withLock { $0 = texts.map { $0 ?? "" } }
            } catch {
                outcomes.withLock { $0 = ["\(error)"] }
            }
        }
        _ = try harness.reload([harness.pipeline, other, gone])
        let expected = "a reload is about to load its pipeline 'gone'; try again after it"
        #expect(outcomes.withLock { $0 } == [expected, expected, expected])
        let now = try harness.release([id]).first
        #expect(now?.text.contains("pause it first") == true, "\(now as Any)")
        _ = await harness.stop()
    }

    @Test("Each job is released or at work, however the two meet")
    func meeting() async throws {
        let gone = pipeline("gone")
        let ids = try await leave(40, in: gone)
        let outcomes = Mutex<[Releasing]>([])
        let isOver = DispatchGroup()
        DispatchQueue.global().async(group: isOver) { @Sendable [harness] in
            do {
                let found = try harness.release(ids)
                outcomes.withLock { $0 = found }
            } catch {
                Issue.record(error)
            }
        }
        #expect(await eventually { scratch.exists("gone/inbox/0") || outcomes.withLock { !$0.isEmpty } })
        #expect(try harness.reload([harness.pipeline, gone]).contains { $0.text == "added" })
        #expect(await eventually { outcomes.withLock { $0.count } == ids.count })
        for (id, outcome) in zip(ids, outcomes.withLock { $0 }) {
            if case .went = outcome {
                #expect(try harness.record(id)?.failure == .released(by: "anna"))
            } else {
                let isLoaded = outcome.text.contains("reload") || outcome.text.contains("pause it first")
                #expect(isLoaded, "\(outcome)")
                #expect(try harness.record(id)?.state.isFinal == false)
            }
        }
        #expect(!harness.warnings.contains { $0.contains("in use by another") }, "\(harness.warnings)")
        _ = await harness.stop()
    }
}

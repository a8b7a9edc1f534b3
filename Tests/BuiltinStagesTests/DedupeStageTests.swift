import BuiltinStages
import Files
import PipelineKit
import Synchronization
import TestSupport
import Testing

@Suite struct DedupeStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "IMG_0042.JPG", Array("%PDF-1.7\n".utf8)) }

    /// Remembers as the journal does.
    private final class Memory: SeenContent {
        let queries = Mutex<[SeenQuery]>([])
        let first = JobIDGenerator().next(at: .now())
        /// How often it says that the first job is not over.
        let unfinished: Mutex<Int>
        let failsInTheEnd: Bool

        init(unfinished: Int = 0, failsInTheEnd: Bool = false) {
            self.unfinished = Mutex(unfinished)
            self.failsInTheEnd = failsInTheEnd
        }

        func first(_ content: SeenQuery) throws(Failure) -> SeenJob? {
            let isKnown = queries.withLock { queries in
                defer { queries.append(content) }
                return queries.contains { $0.content == content.content }
            }
            guard isKnown else { return nil }
            let left = unfinished.withLock { left in
                left -= 1
                return left
            }
            return left < 0 && failsInTheEnd ? nil : SeenJob(first, isOver: left < 0)
        }
    }

    @Test(arguments: ["skip", "continue", "fail"])
    func contentThatCameBefore(seen: String) throws {
        let memory = Memory()
        let options: Options = ["seen": .text(seen), "window": "1h"]
        let payload = try fixture.run("dedupe", options, seen: memory)
        #expect(!payload.isDone)
        let digest = try #require(payload.digests["sha256"])
        #expect(memory.queries.withLock { $0.map(\.content) } == ["sha256:\(digest)"])
        #expect(
            memory.queries.withLock { $0.first?.since } == Timestamp(seconds: 1_700_000_000 - 3600, nanoseconds: 0))
        let notes = StageNotes()
        if seen == "fail" {
            let failure = #expect(throws: Failure.self) { try fixture.run("dedupe", options, seen: memory) }
            #expect(failure?.summary.contains(memory.first.text) == true)
            return
        }
        let again = try fixture.run("dedupe", options, notes: notes, seen: memory)
        #expect(again.isDone == (seen == "skip"))
        #expect(notes.text?.contains("the same content as job \(memory.first)") == true)
    }

    /// What came first may fail yet; then what came second is the first.
    @Test(arguments: [true, false])
    func nothingIsSkippedBeforeTheFirstIsOver(failsInTheEnd: Bool) throws {
        let memory = Memory(unfinished: 3, failsInTheEnd: failsInTheEnd)
        try fixture.run("dedupe", seen: memory)
        #expect(try fixture.run("dedupe", seen: memory).isDone != failsInTheEnd)
        #expect(memory.queries.withLock { $0.count } == 5)
    }

    @Test func foldersAreKnownByTheirFilesToo() throws {
        let memory = Memory()
        let payload = try fixture.folder(["a": "1", "b": "2"])
        #expect(!(try fixture.run("dedupe", on: payload, seen: memory).isDone))
        #expect(try fixture.run("dedupe", on: payload, seen: memory).isDone)
        try fixture.scratch.write("3", to: "job/.payload/b")
        #expect(!(try fixture.run("dedupe", on: payload, seen: memory).isDone))
    }
}

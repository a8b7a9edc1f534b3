import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite struct StageContextTests {
    private let scratch: ScratchFolder
    private let context: StageContext

    init() throws {
        scratch = try ScratchFolder()
        let drop = Drop(name: try #require(FileName("a")), size: 0, droppedAt: Timestamp(nanoseconds: 0))
        let job = Job(
            id: JobIDGenerator().next(), pipeline: "p", drop: drop, claimedAt: Timestamp(nanoseconds: 0),
            folder: scratch.path)
        context = StageContext(
            job: .init(of: job), disk: .init(scratch: job.scratch(stage: 0, kind: "test")))
    }

    @Test func scratchIsCleanEachTime() throws {
        let first = try context.makeScratch()
        try scratch.write("old", to: ".1-test/left/behind")
        #expect(try context.makeScratch() == first)
        #expect(try scratch.tree() == [".1-test/"])
        #expect(try OpenFile.openFolder(first).status().st_mode & 0o700 == 0o700)
    }

    @Test(arguments: [0, 1, 2, 7, 200])
    func resultsComeInTheItemsOrder(_ count: Int) throws {
        let results = try context.concurrently(Array(0..<count)) { (item) throws(Failure) in item * 2 }
        #expect(results == (0..<count).map { $0 * 2 })
    }

    @Test func throwsTheFirstItemsFailure() {
        let failure = #expect(throws: Failure.self) {
            _ = try context.concurrently(Array(0..<100)) { (item) throws(Failure) in
                if item >= 3 { throw .file("item.\(item)", "Item \(item) is bad.") }
                return item
            }
        }
        #expect(failure?.code == "item.3")
    }

    /// Item 0 fails only after item 1 has: its failure is the one that counts all the same.
    @Test func theFirstItemCountsEvenWhenItFailsLast() {
        let second = DispatchSemaphore(value: 0)
        let alone = sysconf(Int32(_SC_NPROCESSORS_ONLN)) == 1
        let failure = #expect(throws: Failure.self) {
            _ = try context.concurrently([0, 1]) { (item) throws(Failure) -> Int in
                if item == 0, !alone { second.wait() }
                second.signal()
                throw .file("item.\(item)", "Bad.")
            }
        }
        #expect(failure?.code == "item.0")
    }

    @Test func afterAFailureNothingNewIsStarted() {
        let started = Counter()
        #expect(throws: Failure.self) {
            _ = try context.concurrently(Array(0..<100_000)) { (item) throws(Failure) -> Int in
                started.add()
                throw .file("bad", "Bad.")
            }
        }
        #expect(started.value < 1000)
    }

    @Test(arguments: [1, 50])
    func cancelledWorkStops(_ count: Int) {
        context.work.cancellation.cancel()
        let started = Counter()
        #expect(throws: Failure.cancelled) {
            _ = try context.concurrently(Array(0..<count)) { (_) throws(Failure) in started.add() }
        }
        #expect(started.value == 0)
        #expect(throws: Failure.cancelled) { try context.checkCancelled() }
    }

    @Test func cancellingMidwayStopsTheRest() {
        let cancellation = context.work.cancellation
        #expect(throws: Failure.cancelled) {
            _ = try context.concurrently(Array(0..<100_000)) { (item) throws(Failure) in
                if item == 10 { cancellation.cancel() }
            }
        }
    }

    @Test func cancellationHasNoWayBack() throws {
        let cancellation = Cancellation()
        #expect(!cancellation.isCancelled)
        cancellation.cancel()
        cancellation.cancel()
        #expect(cancellation.isCancelled)
    }

    @Test func progressCountsFromAnyThread() throws {
        let progress = context.work.progress
        progress.expect(bytes: 400)
        _ = try context.concurrently(Array(0..<100)) { (_) throws(Failure) in progress.add(bytes: 4, entries: 1) }
        #expect(progress.bytes == 400)
        #expect(progress.entries == 100)
        #expect(progress.totalBytes == 400)
    }
}

private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.wrappingAdd(1, ordering: .relaxed) }
}

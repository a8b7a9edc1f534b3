import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Dropmill

@Suite struct MillEventsTests {
    private let history = MillHistory()

    private func events() -> MillEvents { MillEvents(history: history, start: history.end) }

    private func add(_ numbers: Range<Int>) { for number in numbers { history.add(MillEvent(.claimed, "\(number)")) } }

    private static func texts(_ events: MillEvents, _ count: Int) async -> [String] {
        var texts: [String] = []
        for await event in events {
            texts.append(event.kind == .missed ? "-\(event.missed)" : event.description)
            if texts.count == count { break }
        }
        return texts
    }

    @Test func everyIterationHasThemAll() async {
        add(0..<1)
        let (early, late) = (events(), events())
        let waiting = Task { await Self.texts(early, 3) }
        add(1..<4)
        #expect(await waiting.value == ["1", "2", "3"])
        #expect(await Self.texts(late, 2) == ["1", "2"])
        #expect(await Self.texts(late, 3) == ["1", "2", "3"])
    }

    /// Only so many are kept, however slow a reader is, and it learns how many are gone.
    @Test func theOldestAreDropped() async {
        let events = events()
        add(0..<(MillHistory.size + 10))
        #expect(await Self.texts(events, 3) == ["-10", "10", "11"])
        var iterator = events.makeAsyncIterator()
        _ = await iterator.next()
        add(0..<(2 * MillHistory.size))
        #expect(await iterator.next()?.missed == 2 * MillHistory.size)
    }

    @Test func endsWithTheRun() async {
        let first = events()
        history.add(MillEvent(.stopped, "end"))
        let second = events()
        add(0..<1)
        #expect(await Self.texts(first, 9) == ["end"])
        history.close()
        #expect(await Self.texts(second, 9) == ["0"])
    }

    @Test func whoWaitsIsToldTheEnd() async {
        let events = events()
        let waiting = (0..<10).map { _ in Task { await Self.texts(events, 1) } }
        history.close()
        for task in waiting { #expect(await task.value == []) }
    }

    /// Cancelling ends the iteration; others, and whoever adds, go on.
    @Test func cancellingEndsOneIteration() async {
        let events = events()
        let (cancelled, other) = (Task { await Self.texts(events, 1) }, Task { await Self.texts(events, 1) })
        cancelled.cancel()
        #expect(await cancelled.value == [])
        add(0..<1)
        #expect(await other.value == ["0"])
    }

    /// Cancelled and resumed at the same moment, again and again: nobody is resumed twice or left waiting.
    @Test func cancellingMeetsAnEvent() async {
        for _ in 0..<500 {
            let events = events()
            let task = Task { await Self.texts(events, 1) }
            async let adding: Void = add(0..<1)
            task.cancel()
            let texts = await task.value
            #expect(texts == [] || texts == ["0"])
            await adding
        }
    }

    @Test func aMillThatIsGoneEndsIterations() async throws {
        let scratch = try ScratchFolder()
        let text = "inbox: in\nprocessed: out\nfailed: no\nstages: [nothing]\n"
        func mill() -> Mill {
            Mill(
                pipelines: [PipelineDescription(name: "a", base: scratch.path, text: text)],
                registry: StageRegistry([NothingStage.self]), state: scratch.path("state"))
        }
        var gone: Mill? = mill()
        let events = gone?.events
        try await gone?.start()
        gone = nil
        var kinds: [MillEvent.Kind] = []
        if let events { for await event in events { kinds.append(event.kind) } }
        #expect(kinds.first == .started)
        // What it held is free again.
        let next = mill()
        #expect(
            await eventually {
                do throws(MillError) { try await next.start() } catch { return false }
                return true
            })
        await next.stop()
    }
}

private struct NothingStage: Stage {
    static let descriptor = StageDescriptor(kind: "nothing", summary: "Does nothing.", example: "nothing")

    init(options: StageOptions) throws(OptionProblem) {}

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload { payload }
}

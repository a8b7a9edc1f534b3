@preconcurrency import Dispatch
import Synchronization
import TestTools
import Testing

@testable import Files

@Suite("Bell") struct BellTests {
    private let queue = DispatchQueue(label: "test.bell")
    private let times = Times()

    private final class Times: Sendable {
        private let all = Mutex<[MonotonicTime]>([])

        var marks: [MonotonicTime] { all.withLock { $0 } }

        /// How many there are with this one.
        @discardableResult func note() -> Int {
            all.withLock { all in
                all.append(.now())
                return all.count
            }
        }
    }

    private func bell(pause: Duration) -> Bell {
        Bell(on: queue, pause: pause) { @Sendable [times] in times.note() }
    }

    @Test("It is answered once, however often it is rung meanwhile, and again only after the pause")
    func flood() async throws {
        let pause = Duration.milliseconds(50)
        let bell = bell(pause: pause)
        let begun = MonotonicTime.now()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in for _ in 0..<10_000 { bell.ring() } }
        #expect(await eventually { !times.marks.isEmpty })
        let last = MonotonicTime.now()
        bell.ring()
        #expect(await eventually { times.marks.last.map { $0 >= last } ?? false })
        let all = queue.sync { times.marks }
        #expect(zip(all, all.dropFirst()).allSatisfy { $1 - $0 >= pause - .milliseconds(5) }, "\(all)")
        #expect(Double(all.count) <= (MonotonicTime.now() - begun) / pause + 2)
    }

    @Test("Who rings while it is answered has it answered once more")
    func again() async throws {
        let made = Mutex<Bell?>(nil)
        let bell = Bell(on: queue, pause: .zero) { @Sendable [times] in
            if times.note() < 3 { made.withLock { $0 }?.ring() }
        }
        made.withLock { $0 = bell }
        bell.ring()
        #expect(await eventually { times.marks.count == 3 })
    }

    @Test("Once it is silenced nothing begins, also of what was asked for before")
    func silence() {
        let bell = bell(pause: .zero)
        queue.suspend()
        bell.ring()
        bell.silence()
        queue.resume()
        bell.ring()
        queue.sync {}
        #expect(times.marks.isEmpty)
    }
}

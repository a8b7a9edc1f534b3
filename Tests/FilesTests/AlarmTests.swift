@preconcurrency import Dispatch
import Synchronization
import TestTools
import Testing

@testable import Files

@Suite("Alarm") struct AlarmTests {
    /// An alarm, and when it went off.
    private final class Clock: Sendable {
        let queue = DispatchQueue(label: "test.alarm")
        private let went = Mutex<[MonotonicTime]>([])
        private let alarm: Mutex<Alarm?> = Mutex(nil)

        init() {
            let made = Alarm(on: queue, leeway: .milliseconds(1)) { @Sendable [weak self] in
                self?.went.withLock { $0.append(.now()) }
            }
            alarm.withLock { $0 = made }
        }

        var times: [MonotonicTime] { went.withLock { $0 } }

        /// Sets it to one time after the other; how often its timer was set so far.
        @discardableResult func set(_ times: MonotonicTime?...) -> Int { set(times) }

        @discardableResult func set(_ times: [MonotonicTime?]) -> Int {
            guard let alarm = alarm.withLock({ $0 }) else { return 0 }
            return queue.sync {
                for time in times { alarm.set(time) }
                return alarm.settings
            }
        }
    }

    @Test("It goes off once, and not before its time")
    func once() async throws {
        let clock = Clock()
        let time = MonotonicTime.now() + .milliseconds(20)
        clock.set(time)
        #expect(await eventually { clock.times.count == 1 })
        #expect(try #require(clock.times.first) >= time)
        // The next one is another.
        let next = MonotonicTime.now() + .milliseconds(5)
        clock.set(next)
        #expect(await eventually { clock.times.count == 2 })
        #expect(try #require(clock.times.last) >= next)
    }

    @Test("Set to later times all the while, its timer is set once more at the end of the first one")
    func later() async throws {
        let clock = Clock()
        let begun = MonotonicTime.now()
        let settings = clock.set((0..<1000).map { begun + .milliseconds(20) + .microseconds(100) * $0 })
        #expect(settings == 1)
        #expect(await eventually { clock.times.count == 1 })
        #expect(try #require(clock.times.first) >= begun + .milliseconds(20) + .microseconds(100) * 999)
        #expect(clock.set() <= 2)
    }

    @Test("Set to an earlier time it goes off then; to none, not at all")
    func earlier() async throws {
        let clock = Clock()
        let now = MonotonicTime.now()
        let settings = clock.set(now + .seconds(3600), now + .milliseconds(5), nil, now + .seconds(3000))
        #expect(settings == 2)
        clock.set(nil, now + .milliseconds(10))
        #expect(await eventually { clock.times.count == 1 })
        #expect(try #require(clock.times.first) >= now + .milliseconds(10))
    }

    @Test("A time that is over is now")
    func past() async throws {
        let clock = Clock()
        clock.set(MonotonicTime(nanoseconds: 0))
        #expect(await eventually { clock.times.count == 1 })
    }
}

@preconcurrency package import Dispatch

/// Calls back on a queue at the time that it was last set to.
///
/// Setting a timer wakes a thread of Dispatch's own, be it to an earlier or a later time. A queue that sets one at
/// every turn, mostly to a later time, pays more for that than for its turns. So the timer is set only where it has to
/// go off earlier; where it goes off too early it is set once more.
// @unchecked: used on its queue only, as every call asserts.
package final class Alarm: @unchecked Sendable {
    private let queue: DispatchQueue
    private let leeway: DispatchTimeInterval
    private let body: @Sendable () -> Void
    /// When it is to call back.
    private var time: MonotonicTime?
    /// When the timer goes off.
    private var timerTime: MonotonicTime?
    private var timer: (any DispatchSourceTimer)?
    /// How often the timer was set; for tests.
    private(set) var settings = 0

    /// An alarm that is not set. It may be late by `leeway`.
    package init(on queue: DispatchQueue, leeway: DispatchTimeInterval, _ body: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.leeway = leeway
        self.body = body
    }

    deinit { timer?.cancel() }

    /// Sets it to another time; nil: it does not call back.
    package func set(_ time: MonotonicTime?) {
        dispatchPrecondition(condition: .onQueue(queue))
        self.time = time
        guard let time, timerTime.map({ time < $0 }) ?? true else { return }
        timerTime = time
        settings += 1
        let pause = max(0, (time - .now()).nanoseconds)
        timer(on: queue).schedule(deadline: .now() + .nanoseconds(Int(pause)), leeway: leeway)
    }

    private func timer(on queue: DispatchQueue) -> any DispatchSourceTimer {
        if let timer { return timer }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { @Sendable [weak self] in self?.goOff() }
        timer.activate()
        self.timer = timer
        return timer
    }

    private func goOff() {
        timerTime = nil
        guard let time else { return }
        guard time <= .now() else { return set(time) }
        self.time = nil
        body()
    }
}

@preconcurrency package import Dispatch

extension DispatchQueue {
    /// Calls the body on the queue after a while.
    package func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        asyncAfter(deadline: .now() + .nanoseconds(Int(delay.nanoseconds)), execute: body)
    }

    /// Calls the body on the queue again and again, first after `delay`, or one interval. Until the timer is cancelled.
    package func every(
        _ interval: Duration, from delay: Duration? = nil, leeway: Duration,
        _ body: @escaping @Sendable () -> Void
    ) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: self)
        timer.schedule(
            deadline: .now() + .nanoseconds(Int((delay ?? interval).nanoseconds)),
            repeating: .nanoseconds(Int(interval.nanoseconds)), leeway: .nanoseconds(Int(leeway.nanoseconds)))
        timer.setEventHandler(handler: body)
        timer.activate()
        return timer
    }
}

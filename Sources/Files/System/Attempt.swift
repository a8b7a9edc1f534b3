package import Dispatch
import Synchronization

/// A result that another queue produces, and that its caller waits for only until a deadline.
package final class Attempt<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case underWay
        case over(Value)
        case givenUp
    }

    private let state = Mutex(State.underWay)
    private let isOver = DispatchSemaphore(value: 0)

    package init() {}

    /// This came of it. False where nobody waits any more.
    @discardableResult
    package func end(with value: Value) -> Bool {
        let isAwaited = state.withLock { state in
            guard case .underWay = state else { return false }
            state = .over(value)
            return true
        }
        isOver.signal()
        return isAwaited
    }

    /// What came of it; nil where that takes longer, and then it is given up, unless `isPatient`.
    package func wait(until deadline: DispatchTime, isPatient: Bool = false) -> Value? {
        // A semaphore's own limit is one of the wall clock (sem_timedwait(3)), which may be set meanwhile.
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "dropmill.attempt"))
        timer.schedule(deadline: deadline)
        timer.setEventHandler { @Sendable [isOver] in isOver.signal() }
        timer.activate()
        isOver.wait()
        timer.cancel()
        return state.withLock { state in
            if case .over(let value) = state { return value }
            if !isPatient { state = .givenUp }
            return nil
        }
    }
}

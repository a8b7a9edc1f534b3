import CLinux
@preconcurrency import Dispatch
import Synchronization

/// What an idle daemon need not keep resident: pages of the program and its libraries that only the start or the last
/// drops needed, and what they left in the heap. More than half of it all (measured: 29 of 51 MiB after 20,000 drops).
final class IdleMemory: Sendable {
    private struct State {
        /// Whether a check is scheduled; then an event only counts.
        var isAwaited = false
        var hasHappened = false
        var release: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "dropmill.memory")
    private let pause: DispatchTimeInterval
    private let giveBack: @Sendable () -> Void

    /// `pause`: how long nothing must have happened.
    init(
        after pause: DispatchTimeInterval = .seconds(5), giveBack: @escaping @Sendable () -> Void = IdleMemory.giveBack
    ) {
        self.pause = pause
        self.giveBack = giveBack
    }

    /// Has this free what it can, before what is free is given back.
    func release(by body: @escaping @Sendable () -> Void) { state.withLock { $0.release = body } }

    /// Something happened: memory is given back once, when nothing has happened for a while. Any thread may call this.
    func noteEvent() {
        let begins = state.withLock { state in
            state.hasHappened = true
            defer { state.isAwaited = true }
            return !state.isAwaited
        }
        if begins { check() }
    }

    private func check() {
        queue.asyncAfter(deadline: .now() + pause) { @Sendable [weak self] in
            guard let self else { return }
            let release = state.withLock { state in
                defer { state.hasHappened = false }
                state.isAwaited = state.hasHappened
                return state.hasHappened ? nil : state.release
            }
            guard let release else { return check() }
            release()
            giveBack()
        }
    }

    /// Gives it back now. Pages of files are mapped again when they are needed.
    @Sendable static func giveBack() { dm_release_idle_memory() }
}

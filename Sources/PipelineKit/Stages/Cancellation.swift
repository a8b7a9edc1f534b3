import Synchronization

/// Tells work, from any thread, to stop: shutdown or timeout.
public final class Cancellation: Sendable {
    /// Why work is called off.
    public enum Reason: UInt8, Sendable {
        /// The daemon stops; the job waits for the next start.
        case shutdown = 1
        /// It exceeded its time limit.
        case timeout = 2
    }

    private let state = Atomic<UInt8>(0)

    /// Nothing is called off yet.
    public init() {}

    /// Whether the work is to stop.
    public var isCancelled: Bool { state.load(ordering: .relaxed) != 0 }

    /// Why it is to stop; nil as long as it is not.
    public var reason: Reason? { Reason(rawValue: state.load(ordering: .relaxed)) }

    /// Cancels the work for good; the first reason stands.
    package func cancel(_ reason: Reason = .shutdown) {
        _ = state.compareExchange(expected: 0, desired: reason.rawValue, ordering: .relaxed)
    }
}

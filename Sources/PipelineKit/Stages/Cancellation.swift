import Synchronization

/// Says, from any thread, that some work is to stop: shutdown or timeout.
package final class Cancellation: Sendable {
    /// Why work is called off.
    package enum Reason: UInt8, Sendable {
        /// The daemon stops; the job waits for the next start.
        case shutdown = 1
        /// It took longer than it may.
        case timeout = 2
    }

    private let state = Atomic<UInt8>(0)

    /// Not cancelled yet.
    package init() {}

    /// Whether the work is to stop.
    package var isCancelled: Bool { state.load(ordering: .relaxed) != 0 }

    /// Why it is to stop; nil as long as it is not.
    package var reason: Reason? { Reason(rawValue: state.load(ordering: .relaxed)) }

    /// Calls the work off; there is no way back, and the first reason stands.
    package func cancel(_ reason: Reason = .shutdown) {
        _ = state.compareExchange(expected: 0, desired: reason.rawValue, ordering: .relaxed)
    }
}

/// How far a stage is, written by its worker and read by whoever shows it.
package final class StageProgress: Sendable {
    private let byteCount = Atomic<Int64>(0)
    private let entryCount = Atomic<Int64>(0)
    private let total = Atomic<Int64>(0)

    /// Nothing done yet.
    package init() {}

    /// Bytes done so far.
    package var bytes: Int64 { byteCount.load(ordering: .relaxed) }
    /// Entries or files done so far.
    package var entries: Int64 { entryCount.load(ordering: .relaxed) }
    /// Bytes there are in all; 0 where it is not known.
    package var totalBytes: Int64 { total.load(ordering: .relaxed) }

    /// Counts what was done.
    package func add(bytes: Int64 = 0, entries: Int64 = 0) {
        if bytes != 0 { byteCount.wrappingAdd(bytes, ordering: .relaxed) }
        if entries != 0 { entryCount.wrappingAdd(entries, ordering: .relaxed) }
    }

    /// Says how many bytes there are in all.
    package func expect(bytes: Int64) { total.store(bytes, ordering: .relaxed) }
}

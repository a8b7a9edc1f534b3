import Synchronization

/// How far a stage is, written by its worker and read by whoever shows it.
public final class StageProgress: Sendable {
    private let byteCount = Atomic<Int64>(0)
    private let entryCount = Atomic<Int64>(0)
    private let total = Atomic<Int64>(0)
    private let moveCount = Atomic<Int64>(0)

    package init() {}

    /// Bytes done so far.
    public var bytes: Int64 { byteCount.load(ordering: .relaxed) }
    /// Entries or files done so far.
    public var entries: Int64 { entryCount.load(ordering: .relaxed) }
    /// Bytes there are in all; 0 where it is not known.
    public var totalBytes: Int64 { total.load(ordering: .relaxed) }

    /// Counts what was done.
    public func add(bytes: Int64 = 0, entries: Int64 = 0) {
        if bytes != 0 { byteCount.wrappingAdd(bytes, ordering: .relaxed) }
        if entries != 0 { entryCount.wrappingAdd(entries, ordering: .relaxed) }
    }

    /// Notes that something was done that is not worth a number.
    package func move() { moveCount.wrappingAdd(1, ordering: .relaxed) }

    /// Changes with everything that is done.
    package var moves: Int64 { bytes &+ entries &+ moveCount.load(ordering: .relaxed) }

    /// Sets the total number of bytes.
    public func expect(bytes: Int64) { total.store(bytes, ordering: .relaxed) }
}

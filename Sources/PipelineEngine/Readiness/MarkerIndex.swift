import DequeModule
import PipelineKit

/// Which markers lie in an inbox, which drops they speak for, and which of them have been alone for too long. Pure.
///
/// A marker that can speak for one drop only is told of with it; drops are kept for markers that may have several.
struct MarkerIndex<Key: Hashable & Sendable> {
    /// How long a marker may be alone before it is reported, where the rule sets no time.
    static var patience: Duration { .seconds(600) }

    private struct Appointment {
        let due: MonotonicTime
        let marker: Key
        let alone: MonotonicTime
    }

    private let patience: Duration
    /// Since when each is alone; `accompanied` while its drop is there.
    private var markers: [Key: MonotonicTime] = [:]
    private static var accompanied: MonotonicTime { .distantFuture }
    private var drops: [Key: Set<Key>] = [:]
    /// In order: each is put behind the others when it is due the same time after.
    private var appointments = Deque<Appointment>()

    /// An index of nothing.
    init(timeout: Duration?) { patience = timeout ?? Self.patience }

    /// The marker is there, or was touched. `drop`: the only one that it can speak for, if that is there. The drops
    /// that it speaks for are to be looked at again.
    mutating func appeared(_ marker: Key, with drop: Key? = nil, at now: MonotonicTime) -> Set<Key> {
        let drops = drop.map { [$0] } ?? drops[marker] ?? []
        if markers[marker] == nil {
            markers[marker] = Self.accompanied
            if drops.isEmpty { leaveAlone(marker, at: now) }
        }
        return drops
    }

    /// The marker is gone, or taken. The drops that it spoke for are to be looked at again.
    mutating func vanished(_ marker: Key, with drop: Key? = nil) -> Set<Key> {
        markers[marker] = nil
        return drop.map { [$0] } ?? drops[marker] ?? []
    }

    /// A drop that this marker speaks for is there. `isOnly`: it is the only one that there can be.
    mutating func appeared(drop: Key, of marker: Key, isOnly: Bool = false) {
        if !isOnly { drops[marker, default: []].insert(drop) }
        if markers[marker] != nil { markers[marker] = Self.accompanied }
    }

    /// It is gone, or taken.
    mutating func vanished(drop: Key, of marker: Key, isOnly: Bool = false, at now: MonotonicTime) {
        if !isOnly {
            drops[marker]?.remove(drop)
            guard drops[marker]?.isEmpty ?? false else { return }
            drops[marker] = nil
        }
        if markers[marker] != nil { leaveAlone(marker, at: now) }
    }

    /// Whether other drops need the marker too.
    func isShared(_ marker: Key, besides drop: Key) -> Bool {
        drops[marker].map { $0.contains { $0 != drop } } ?? false
    }

    /// Markers whose drops have not come for too long, each once.
    mutating func overdue(at now: MonotonicTime) -> [Key] {
        var overdue: [Key] = []
        while let first = appointments.first, first.due <= now {
            appointments.removeFirst()
            if markers[first.marker] == first.alone { overdue.append(first.marker) }
        }
        return overdue
    }

    /// When the next marker may have been alone for too long.
    var nextDue: MonotonicTime? { appointments.first?.due }

    /// The markers that are alone.
    var alone: some Sequence<Key> { markers.lazy.filter { $0.value != Self.accompanied }.map(\.key) }

    /// Whether it is one of these.
    func isAlone(_ marker: Key) -> Bool { markers[marker].map { $0 != Self.accompanied } ?? false }

    /// A drop that the marker speaks for, where both are there; `only`: the only one that there can be.
    func drop(of marker: Key, only: Key? = nil) -> Key? {
        markers[marker] == Self.accompanied ? only ?? drops[marker]?.first : nil
    }

    private mutating func leaveAlone(_ marker: Key, at now: MonotonicTime) {
        markers[marker] = now
        appointments.append(Appointment(due: now + patience, marker: marker, alone: now))
    }
}

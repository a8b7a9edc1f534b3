import DequeModule
import PipelineKit

/// Which markers lie in an inbox, which drops they speak for, and which of them have been alone for too long. Pure.
struct MarkerIndex<Key: Hashable & Sendable> {
    /// How long a marker may be alone before it is reported, where the rule sets no time.
    static var patience: Duration { .seconds(600) }

    private struct Marker {
        /// Since when it is alone; nil while its drop is there.
        var alone: MonotonicTime?
    }

    private struct Appointment {
        let due: MonotonicTime
        let marker: Key
        let alone: MonotonicTime
    }

    private let patience: Duration
    private var markers: [Key: Marker] = [:]
    private var drops: [Key: Set<Key>] = [:]
    /// In order: each is put behind the others when it is due the same time after.
    private var appointments = Deque<Appointment>()

    /// An index of nothing.
    init(timeout: Duration?) { patience = timeout ?? Self.patience }

    /// The marker is there, or was touched. The drops that it speaks for are to be looked at again.
    mutating func appeared(_ marker: Key, at now: MonotonicTime) -> Set<Key> {
        let drops = drops[marker] ?? []
        if markers[marker] == nil {
            markers[marker] = Marker()
            if drops.isEmpty { leaveAlone(marker, at: now) }
        }
        return drops
    }

    /// The marker is gone, or taken. The drops that it spoke for are to be looked at again.
    mutating func vanished(_ marker: Key) -> Set<Key> {
        markers[marker] = nil
        return drops[marker] ?? []
    }

    /// A drop that this marker speaks for is there.
    mutating func appeared(drop: Key, of marker: Key) {
        drops[marker, default: []].insert(drop)
        markers[marker]?.alone = nil
    }

    /// It is gone, or taken.
    mutating func vanished(drop: Key, of marker: Key, at now: MonotonicTime) {
        drops[marker]?.remove(drop)
        guard drops[marker]?.isEmpty ?? false else { return }
        drops[marker] = nil
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
            if markers[first.marker]?.alone == first.alone { overdue.append(first.marker) }
        }
        return overdue
    }

    /// When the next marker may have been alone for too long.
    var nextDue: MonotonicTime? { appointments.first?.due }

    /// The markers that are alone.
    var alone: some Sequence<Key> { markers.lazy.filter { $0.value.alone != nil }.map(\.key) }

    /// Whether it is one of these.
    func isAlone(_ marker: Key) -> Bool { markers[marker]?.alone != nil }

    /// A drop that the marker speaks for, where both are there.
    func drop(of marker: Key) -> Key? { markers[marker].flatMap { _ in drops[marker]?.first } }

    private mutating func leaveAlone(_ marker: Key, at now: MonotonicTime) {
        markers[marker]?.alone = now
        appointments.append(Appointment(due: now + patience, marker: marker, alone: now))
    }
}

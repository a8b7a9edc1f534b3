package import Files

/// Which markers are in an inbox, which drops they speak for, and which of them have been alone for too long. Pure.
///
/// A marker for one drop only is reported with it; drops are kept for markers that may have several.
package struct MarkerIndex {
    /// How long a marker may be alone before it is reported, where the rule sets no time.
    package static let patience = Duration.seconds(600)

    private let patience: Duration
    private let markerName: @Sendable (FileName) -> FileName?
    /// Since when each is alone; `accompanied` while its drop is there. Queued until that is reported.
    private var markers = KeyedHeap<DropPath, MonotonicTime>()
    private static let accompanied = MonotonicTime.distantFuture
    private var drops: [InboxFolder: MarkedDrops] = [:]

    /// An index of nothing. `markerName`: the marker that a drop needs; nil where it cannot have one.
    package init(timeout: Duration?, markerName: @escaping @Sendable (FileName) -> FileName?) {
        patience = timeout ?? Self.patience
        self.markerName = markerName
    }

    /// The marker is there, or was touched. `drop`: the only one that it can speak for, if that is there. The drops
    /// that it speaks for must be examined again.
    package mutating func appeared(
        _ marker: DropPath, with drop: DropPath? = nil, at now: MonotonicTime
    ) -> Set<DropPath> {
        let drops = drop.map { [$0] } ?? drops(needing: marker)
        if markers.find(marker) == nil {
            let slot = markers.insert(marker, Self.accompanied)
            if drops.isEmpty { leaveAlone(slot, at: now) }
        }
        return drops
    }

    /// The marker is gone or was claimed. Its drops must be examined again.
    package mutating func vanished(_ marker: DropPath, with drop: DropPath? = nil) -> Set<DropPath> {
        if let slot = markers.find(marker) { _ = markers.remove(slot) }
        return drop.map { [$0] } ?? drops(needing: marker)
    }

    /// A drop that this marker speaks for is there. `isOnly`: it is the only one that there can be.
    package mutating func appeared(drop: DropPath, of marker: DropPath, isOnly: Bool = false) {
        if !isOnly {
            drops[drop.folder, default: MarkedDrops(markerName: markerName)].insert(drop.name, needing: marker.name)
        }
        guard let slot = markers.find(marker) else { return }
        markers[slot] = Self.accompanied
        markers.dequeue(slot)
    }

    /// It is gone, or taken.
    package mutating func vanished(drop: DropPath, of marker: DropPath, isOnly: Bool = false, at now: MonotonicTime) {
        if !isOnly {
            drops[drop.folder]?.remove(drop.name, needing: marker.name)
            if drops[drop.folder]?.isEmpty ?? false { drops[drop.folder] = nil }
            guard !isShared(marker, besides: drop) else { return }
        }
        if let slot = markers.find(marker) { leaveAlone(slot, at: now) }
    }

    /// Whether other drops need the marker too.
    package func isShared(_ marker: DropPath, besides drop: DropPath) -> Bool {
        drops[marker.folder]?.needing(marker.name).contains { $0 != drop.name } ?? false
    }

    package mutating func overdue(at now: MonotonicTime) -> [DropPath] {
        var overdue: [DropPath] = []
        while let due = nextDue, due <= now, let first = markers.first {
            markers.dequeue(first)
            overdue.append(markers.key(of: first))
        }
        return overdue
    }

    /// When the next marker may have been alone for too long.
    package var nextDue: MonotonicTime? { markers.first.map { markers[$0] + patience } }

    package var alone: some Sequence<DropPath> {
        markers.slots.lazy.filter { markers[$0] != Self.accompanied }.map { markers.key(of: $0) }
    }

    package func isAlone(_ marker: DropPath) -> Bool {
        markers.find(marker).map { markers[$0] != Self.accompanied } ?? false
    }

    /// A drop that the marker speaks for, where both are there; `only`: the only one that there can be.
    package func drop(of marker: DropPath, only: DropPath? = nil) -> DropPath? {
        guard let slot = markers.find(marker), markers[slot] == Self.accompanied else { return nil }
        return only ?? drops(needing: marker).first
    }

    private func drops(needing marker: DropPath) -> Set<DropPath> {
        guard let drops = drops[marker.folder] else { return [] }
        return Set(drops.needing(marker.name).map { DropPath($0, in: marker.folder) })
    }

    private mutating func leaveAlone(_ marker: KeyedHeap<DropPath, MonotonicTime>.Slot, at now: MonotonicTime) {
        markers[marker] = now
        markers.enqueue(marker, rank: now.nanoseconds)
    }
}

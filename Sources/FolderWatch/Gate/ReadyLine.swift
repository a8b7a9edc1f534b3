package import Files

/// Drops that are complete and wait in one line to be claimed, next first in an order. Pure. One that
/// waits costs about 80 bytes; its name is the inbox's own copy.
package struct ReadyLine: Sendable {
    private struct Ready {
        let inode: UInt64
        let size: Int64
        private let modifiedSeconds: Int64
        private let modifiedNanoseconds: UInt32
        private let changedNanoseconds: UInt32
        private let knownSeconds: Int32
        /// Seventeen thousand years: three bytes less, which would be eight with what lies behind them.
        private let changedSeconds: (low: UInt32, high: Int8)
        /// The rest of a second, to 4 ms.
        private let knownFraction: UInt8
        /// Its place in `devices`.
        private let place: UInt16

        init(_ fingerprint: Fingerprint, device: Int, known: MonotonicTime) {
            inode = fingerprint.inode
            size = fingerprint.size
            modifiedSeconds = fingerprint.modified.seconds
            changedSeconds = (
                UInt32(truncatingIfNeeded: fingerprint.changed.seconds),
                Int8(truncatingIfNeeded: fingerprint.changed.seconds >> 32)
            )
            modifiedNanoseconds = fingerprint.modified.nanoseconds
            changedNanoseconds = fingerprint.changed.nanoseconds
            let known = known.nanoseconds / Self.fraction
            knownSeconds = Int32(clamping: known >> 8)
            knownFraction = UInt8(truncatingIfNeeded: known)
            place = UInt16(device)
        }

        var modified: FileTime { FileTime(seconds: Int(modifiedSeconds), nanoseconds: Int(modifiedNanoseconds)) }
        var changed: FileTime {
            FileTime(
                seconds: Int(changedSeconds.high) << 32 | Int(changedSeconds.low),
                nanoseconds: Int(changedNanoseconds))
        }
        var known: MonotonicTime {
            MonotonicTime(nanoseconds: (Int64(knownSeconds) << 8 + Int64(knownFraction)) * Self.fraction)
        }
        var device: Int { Int(place) }

        /// The 256th part of a second, in nanoseconds.
        private static let fraction: Int64 = 3_906_250
    }

    private typealias Drops = KeyedHeap<DropPath, Ready>

    /// In which order they are taken.
    package enum Order: Sendable {
        /// As they became complete.
        case arrival
        /// By path, as bytes.
        case name
        /// The oldest mtime first.
        case modified
        /// By bytes, the least first.
        case size
        /// By bytes, the most first.
        case sizeDescending
    }

    /// What senders' times and sizes can rank a drop by: what somebody puts first or last lies outside.
    private static let ranks: ClosedRange<Int64> = -(1 << 62)...(1 << 62)

    private let order: Order
    private var drops: Drops
    /// How often something was put first or last.
    private var bumps: Int64 = 0
    /// Every device that drops came from: one, or one for each mount of the file system.
    private var devices: [UInt64] = []
    /// What few have beside: the fingerprints of folders, and of files with a strange time; and what held a drop.
    private var rarities: [Drops.Slot: Rarity] = [:]

    private struct Rarity {
        let listing: Int
        let changed: FileTime
        let held: [GateHold]
    }

    /// With so many of them it is not kept any more what held one: that is up to senders.
    private static let mostRarities = 4096

    /// A queue that is empty.
    package init(by order: Order) {
        self.order = order
        drops =
            switch order {
            case .arrival, .size, .sizeDescending: KeyedHeap()
            case .modified: KeyedHeap { @Sendable _, ready, _, other in ready.modified < other.modified }
            case .name: KeyedHeap { @Sendable path, _, other, _ in path < other }
            }
    }

    /// What the order goes by first.
    private func rank(of ready: Ready) -> Int64 {
        let rank =
            switch order {
            case .arrival, .name: 0 as Int64
            case .modified: ready.modified.seconds
            case .size: ready.size
            case .sizeDescending: ~ready.size
            }
        return min(max(rank, Self.ranks.lowerBound), Self.ranks.upperBound)
    }

    /// How many wait.
    package var count: Int { drops.count }

    /// Whether none waits.
    package var isEmpty: Bool { drops.count == 0 }

    /// Whether the drop waits.
    package func contains(_ path: DropPath) -> Bool { drops.find(path) != nil }

    /// Since when the drop is known, to 4 ms; nil where it does not wait.
    package func known(_ path: DropPath) -> MonotonicTime? { drops.find(path).map { drops[$0].known } }

    /// Since when the one is known that is known for longest; nil where none waits.
    package var oldest: MonotonicTime? { drops.slots.lazy.map { drops[$0].known }.min() }

    /// How many bytes all of them have. Senders choose their sizes.
    package var bytes: Int64 { drops.slots.reduce(0) { $0.addingSaturated(max(0, drops[$1].size)) } }

    /// Calls the body with each that waits, since when it is known, and its bytes; in no order.
    package func forEach(_ body: (DropPath, MonotonicTime, Int64) -> Void) {
        for slot in drops.slots { body(drops.key(of: slot), drops[slot].known, drops[slot].size) }
    }

    /// The bytes of one; nil where it does not wait.
    package func size(of path: DropPath) -> Int64? { drops.find(path).map { drops[$0].size } }

    /// Some of the waiting entries, in no order.
    package func some(_ limit: Int) -> [DropPath] { drops.slots.prefix(limit).map { drops.key(of: $0) } }

    /// Adds a drop in the state in which it was found complete. `known`: since when it waits; `held`: what held it.
    package mutating func add(
        _ path: DropPath, _ fingerprint: Fingerprint, known: MonotonicTime = .now(), held: [GateHold] = []
    ) {
        remove(path)
        // Beyond what has a place it is that of another: then it is found changed at its claim and examined again.
        let device = devices.firstIndex(of: fingerprint.device) ?? min(devices.count, Int(UInt16.max))
        if device == devices.count { devices.append(fingerprint.device) }
        let drop = Ready(fingerprint, device: device, known: known)
        let slot = drops.insert(path, drop)
        drops.enqueue(slot, rank: rank(of: drop))
        let held = rarities.count < Self.mostRarities ? held : []
        if fingerprint.listing != 0 || fingerprint.changed != drop.changed || !held.isEmpty {
            rarities[slot] = Rarity(listing: fingerprint.listing, changed: fingerprint.changed, held: held)
        }
    }

    /// Puts a drop before or behind all others, those that come later too. Whether it is there.
    package mutating func bump(_ path: DropPath, last isLast: Bool) -> Bool {
        guard let slot = drops.find(path) else { return false }
        bumps += 1
        drops.enqueue(slot, rank: isLast ? Self.ranks.upperBound + bumps : Self.ranks.lowerBound - bumps)
        return true
    }

    /// Takes a drop out: it is gone, or not complete any more. Whether it was there.
    @discardableResult
    package mutating func remove(_ path: DropPath) -> Bool {
        guard let slot = drops.find(path) else { return false }
        remove(slot)
        return true
    }

    /// The next drop, which stays.
    package func first() -> (path: DropPath, fingerprint: Fingerprint)? {
        drops.first.map { (drops.key(of: $0), fingerprint(of: $0)) }
    }

    /// One that waits: what it was when it was found complete, since when it is known, and what held it.
    func drop(_ path: DropPath) -> (fingerprint: Fingerprint, known: MonotonicTime, held: [GateHold])? {
        drops.find(path).map { (fingerprint(of: $0), drops[$0].known, rarities[$0]?.held ?? []) }
    }

    private func fingerprint(of slot: Drops.Slot) -> Fingerprint {
        let ready = drops[slot]
        return Fingerprint(
            device: devices[ready.device], inode: ready.inode, size: ready.size, modified: ready.modified,
            changed: rarities[slot]?.changed ?? ready.changed, listing: rarities[slot]?.listing ?? 0)
    }

    /// Since when the next drop is known, and what held it until it was complete.
    package var firstArrival: (known: MonotonicTime, held: [GateHold])? {
        drops.first.map { (drops[$0].known, rarities[$0]?.held ?? []) }
    }

    /// Takes the next drop out.
    package mutating func removeFirst() {
        if let slot = drops.first { remove(slot) }
    }

    private mutating func remove(_ slot: Drops.Slot) {
        rarities[slot] = nil
        if let moved = drops.remove(slot) { rarities[slot] = rarities.removeValue(forKey: moved) }
    }
}

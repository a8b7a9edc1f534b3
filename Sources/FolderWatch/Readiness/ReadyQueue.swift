package import PipelineKit

/// Drops that are complete and wait to be claimed, next first in the order that a pipeline asks for. Pure. One that
/// waits costs about 80 bytes; its name is the inbox's own copy.
package struct ReadyQueue: Sendable {
    private struct Ready {
        let inode: UInt64
        let size: Int64
        private let modifiedSeconds: Int64
        private let changedSeconds: Int64
        private let modifiedNanoseconds: UInt32
        private let changedNanoseconds: UInt32
        /// As they came, and in the lowest 16 bits its place in `devices`: two words less than with a field for each,
        /// and as large as what the gate keeps, so that the memory of those that leave it is used again.
        private let place: UInt64

        init(_ fingerprint: Fingerprint, number: UInt64, device: Int) {
            inode = fingerprint.inode
            size = fingerprint.size
            modifiedSeconds = fingerprint.modified.seconds
            changedSeconds = fingerprint.changed.seconds
            modifiedNanoseconds = fingerprint.modified.nanoseconds
            changedNanoseconds = fingerprint.changed.nanoseconds
            place = number << 16 | UInt64(device)
        }

        var modified: FileTime { FileTime(seconds: Int(modifiedSeconds), nanoseconds: Int(modifiedNanoseconds)) }
        var changed: FileTime { FileTime(seconds: Int(changedSeconds), nanoseconds: Int(changedNanoseconds)) }
        var number: UInt64 { place >> 16 }
        var device: Int { Int(place & 0xFFFF) }
    }

    private typealias Drops = KeyedHeap<DropPath, Ready>

    private let order: Pipeline.Order
    private var drops: Drops
    /// Every device that drops came from: one, or one for each mount of the file system.
    private var devices: [UInt64] = []
    /// What a fingerprint of a folder has beside: files have none.
    private var listings: [Drops.Slot: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// A queue that is empty.
    package init(order: Pipeline.Order) {
        self.order = order
        drops = KeyedHeap { @Sendable path, ready, otherPath, other in
            switch order {
            case .oldest where ready.modified != other.modified: ready.modified < other.modified
            case .smallest where ready.size != other.size: ready.size < other.size
            case .largest where ready.size != other.size: ready.size > other.size
            case .name: path < otherPath
            default: ready.number < other.number
            }
        }
    }

    /// How many wait.
    package var count: Int { drops.count }

    /// Whether none waits.
    package var isEmpty: Bool { drops.count == 0 }

    /// Whether the drop waits.
    package func contains(_ path: DropPath) -> Bool { drops.find(path) != nil }

    /// Some of the waiting entries, in no order.
    package func some(_ limit: Int) -> [DropPath] { drops.slots.prefix(limit).map { drops.key(of: $0) } }

    /// Adds a drop in the state in which it was found complete.
    package mutating func add(_ path: DropPath, _ fingerprint: Fingerprint) {
        remove(path)
        lastNumber += 1
        // Beyond what has a place it is that of another: then it is found changed at its claim and examined again.
        let device = devices.firstIndex(of: fingerprint.device) ?? min(devices.count, Int(UInt16.max))
        if device == devices.count { devices.append(fingerprint.device) }
        let slot = drops.insert(path, Ready(fingerprint, number: lastNumber, device: device))
        drops.enqueue(slot)
        if fingerprint.listing != 0 { listings[slot] = fingerprint.listing }
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
        guard let slot = drops.first else { return nil }
        let ready = drops[slot]
        return (
            drops.key(of: slot),
            Fingerprint(
                device: devices[ready.device], inode: ready.inode, size: ready.size, modified: ready.modified,
                changed: ready.changed, listing: listings[slot] ?? 0)
        )
    }

    /// Takes the next drop out.
    package mutating func removeFirst() {
        if let slot = drops.first { remove(slot) }
    }

    private mutating func remove(_ slot: Drops.Slot) {
        listings[slot] = nil
        if let moved = drops.remove(slot) { listings[slot] = listings.removeValue(forKey: moved) }
    }
}

import HeapModule
import PipelineKit

/// Drops that are complete and wait to be claimed, next first in the order that a pipeline asks for. Pure.
struct ReadyQueue {
    private struct Place: Comparable {
        /// What comes first; smaller first.
        let rank: Int64
        /// As they came.
        let number: Int64
        let path: DropPath

        static func < (left: Place, right: Place) -> Bool {
            if left.rank != right.rank { return left.rank < right.rank }
            if left.number != right.number { return left.number < right.number }
            return left.path < right.path
        }

        static func == (left: Place, right: Place) -> Bool {
            left.rank == right.rank && left.number == right.number && left.path == right.path
        }
    }

    private struct Ready {
        let fingerprint: Fingerprint
        let number: Int64
    }

    private let order: Pipeline.Order
    private var drops: [DropPath: Ready] = [:]
    /// Places of drops that were taken out are void.
    private var places = Heap<Place>()
    private var lastNumber: Int64 = 0

    /// A queue that is empty.
    init(order: Pipeline.Order) { self.order = order }

    /// How many wait.
    var count: Int { drops.count }

    /// Whether none waits.
    var isEmpty: Bool { drops.isEmpty }

    /// Whether the drop waits.
    func contains(_ path: DropPath) -> Bool { drops[path] != nil }

    /// Some of those that wait, in no order.
    func some(_ limit: Int) -> [DropPath] { Array(drops.keys.prefix(limit)) }

    /// Adds a drop in the state in which it was found complete.
    mutating func add(_ path: DropPath, _ fingerprint: Fingerprint) {
        lastNumber += 1
        drops[path] = Ready(fingerprint: fingerprint, number: lastNumber)
        places.insert(place(of: path, fingerprint, lastNumber))
        // Drops that are complete and touched again in turn, while none is claimed, leave nothing but void places.
        if places.count > 2 * drops.count + 1000 {
            places = Heap(drops.map { place(of: $0.key, $0.value.fingerprint, $0.value.number) })
        }
    }

    /// Takes a drop out: it is gone, or not complete any more. Whether it was there.
    @discardableResult
    mutating func remove(_ path: DropPath) -> Bool { drops.removeValue(forKey: path) != nil }

    /// The next drop, which stays.
    mutating func first() -> (path: DropPath, fingerprint: Fingerprint)? {
        while let place = places.min {
            if let ready = drops[place.path], isOf(ready, place) { return (place.path, ready.fingerprint) }
            places.removeMin()
        }
        return nil
    }

    /// Takes the next drop out.
    mutating func removeFirst() {
        guard let first = first() else { return }
        drops[first.path] = nil
        places.removeMin()
        // A flood that is over leaves its memory to others.
        if drops.isEmpty { self = ReadyQueue(order: order) }
    }

    private func isOf(_ ready: Ready, _ place: Place) -> Bool { order == .name || ready.number == place.number }

    private func place(of path: DropPath, _ fingerprint: Fingerprint, _ number: Int64) -> Place {
        switch order {
        case .arrival: Place(rank: 0, number: number, path: path)
        case .name: Place(rank: 0, number: 0, path: path)
        case .oldest: Place(rank: fingerprint.modified, number: number, path: path)
        case .smallest: Place(rank: fingerprint.size, number: number, path: path)
        case .largest: Place(rank: -fingerprint.size, number: number, path: path)
        }
    }
}

/// How much more a pipeline may claim: jobs and bytes. Pure.
struct ActiveRoom {
    private let mostJobs: Int
    /// Nil: as many as there are.
    private let mostBytes: Int64?
    private var jobs = 0
    private var bytes: Int64 = 0

    init(jobs: Int, bytes: ByteSize?) {
        mostJobs = jobs
        mostBytes = bytes?.bytes
    }

    /// Whether one of that size may be claimed. One that is larger than all there may be is claimed alone.
    func has(_ size: Int64) -> Bool {
        guard jobs < mostJobs else { return false }
        guard let mostBytes, jobs > 0 else { return true }
        return bytes + size <= mostBytes
    }

    /// A job takes up room.
    mutating func take(_ size: Int64) {
        jobs += 1
        bytes += size
    }

    /// It gives it back.
    mutating func giveBack(_ size: Int64) {
        jobs -= 1
        bytes -= size
    }
}

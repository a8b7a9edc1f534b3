import Files

/// The drops of one folder by the markers that they need, where several may need the same one: `{stem}.ok`. Pure.
///
/// A drop costs some 20 bytes beside its name, which is the inbox's own copy: markers are not kept, but made from the
/// names of their drops when they are compared. With a dictionary of sets a drop that waits costs 387 bytes, all
/// structures together, where some 200 are promised.
struct MarkedDrops: Sendable {
    private let markerName: @Sendable (FileName) -> FileName?
    private var names = Blocks<FileName>()
    /// For each name the next one in its bucket: its number and one more, or 0.
    private var links = Blocks<UInt32>()
    /// The first name of each bucket, in the same way. A power of two, half as many as there are names at most.
    private var buckets: ContiguousArray<UInt32> = []

    /// No drops; `markerName` says which marker one needs.
    init(markerName: @escaping @Sendable (FileName) -> FileName?) { self.markerName = markerName }

    /// Whether there is none.
    var isEmpty: Bool { names.count == 0 }

    func needing(_ marker: FileName) -> some Sequence<FileName> {
        let first = buckets.isEmpty ? 0 : buckets[bucket(of: marker)]
        return sequence(state: first) { number -> FileName? in
            guard number > 0 else { return nil }
            defer { number = links[Int(number) - 1] }
            return names[Int(number) - 1]
        }.lazy.filter { markerName($0) == marker }
    }

    mutating func insert(_ drop: FileName, needing marker: FileName) {
        if names.count >= 2 * buckets.count { grow() }
        let bucket = bucket(of: marker)
        guard number(of: drop, in: bucket) == nil else { return }
        names.append(drop)
        links.append(buckets[bucket])
        buckets[bucket] = UInt32(names.count)
    }

    /// It is gone. The last one takes its number, so that none is left over.
    mutating func remove(_ drop: FileName, needing marker: FileName) {
        guard !buckets.isEmpty else { return }
        let bucket = bucket(of: marker)
        guard let number = number(of: drop, in: bucket) else { return }
        relink(number, to: links[Int(number) - 1], in: bucket)
        let last = UInt32(names.count)
        if last != number, let lastMarker = markerName(names[Int(last) - 1]) {
            relink(last, to: number, in: self.bucket(of: lastMarker))
            names[Int(number) - 1] = names[Int(last) - 1]
            links[Int(number) - 1] = links[Int(last) - 1]
        }
        names.removeLast()
        links.removeLast()
        // A flood that is over leaves its memory to others.
        if names.count == 0 { self = MarkedDrops(markerName: markerName) }
    }

    private func bucket(of marker: FileName) -> Int { marker.hashValue & (buckets.count - 1) }

    private func number(of drop: FileName, in bucket: Int) -> UInt32? {
        var number = buckets[bucket]
        while number > 0 {
            if names[Int(number) - 1] == drop { return number }
            number = links[Int(number) - 1]
        }
        return nil
    }

    /// What led to a name leads to another one.
    private mutating func relink(_ number: UInt32, to other: UInt32, in bucket: Int) {
        if buckets[bucket] == number {
            buckets[bucket] = other
            return
        }
        var before = buckets[bucket]
        while links[Int(before) - 1] != number { before = links[Int(before) - 1] }
        links[Int(before) - 1] = other
    }

    private mutating func grow() {
        buckets = ContiguousArray(repeating: 0, count: max(4, 2 * buckets.count))
        for place in 0..<names.count {
            guard let marker = markerName(names[place]) else { continue }
            let bucket = bucket(of: marker)
            links[place] = buckets[bucket]
            buckets[bucket] = UInt32(place + 1)
        }
    }
}

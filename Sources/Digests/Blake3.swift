/// BLAKE3 ("BLAKE3: one function, fast everywhere", 2021-01-27), with digests of 32 bytes and without a key; no library
/// that Debian has brings it. Four chunks are hashed side by side.
struct Blake3 {
    /// What hashing has come to: eight words.
    private typealias Chaining = SIMD8<UInt32>
    /// A word of each of four blocks.
    fileprivate typealias Lanes = SIMD4<UInt32>

    private static let block = 64
    private static let chunk = 1024
    /// What is hashed at a time.
    private static let share = 4 * chunk

    private static let start: UInt32 = 1, end: UInt32 = 2, parent: UInt32 = 4, root: UInt32 = 8
    private static let initial = Chaining(
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19)

    /// What was taken in and not yet hashed: the last chunk is hashed in another way than those before it, so some of
    /// it is always kept.
    private var pending: [UInt8] = []
    private var shares: UInt64 = 0
    /// The trees of the shares so far, the largest first; no two of one size.
    private var stack: [Chaining] = []

    init() { pending.reserveCapacity(Self.share) }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if pending.count == Self.share { takeShare() }
            let next = rest.prefix(Self.share - pending.count)
            pending.append(contentsOf: next)
            rest = rest[next.endIndex...]
        }
    }

    private mutating func takeShare() {
        var tree = Self.tree(of: pending, after: shares * 4, isRoot: false)
        shares += 1
        for _ in 0..<shares.trailingZeroBitCount {
            guard let left = stack.popLast() else { break }
            tree = Self.parent(of: left, tree, isRoot: false)
        }
        stack.append(tree)
        pending.removeAll(keepingCapacity: true)
    }

    func finish() -> [UInt8] {
        var tree = Self.tree(of: pending, after: shares * 4, isRoot: stack.isEmpty)
        for (index, left) in stack.enumerated().reversed() {
            tree = Self.parent(of: left, tree, isRoot: index == 0)
        }
        return (0..<8).flatMap { index in withUnsafeBytes(of: tree[index].littleEndian) { Array($0) } }
    }

    // MARK: Chunks and trees

    /// The tree over up to four chunks, the last of which may be short.
    private static func tree(of bytes: [UInt8], after number: UInt64, isRoot: Bool) -> Chaining {
        let whole = bytes.count / chunk
        // Those that are whole side by side, a short one (or the only one, which may be the root) after them.
        let together = whole * chunk == bytes.count && whole > 1 ? whole : min(whole, (bytes.count - 1) / chunk)
        var values: [Chaining] = []
        if together > 0 {
            let lanes = hash(bytes, from: 0, count: together, chunk, number, isRoot: false)
            values = (0..<together).map { lanes.value($0) }
        }
        let rest = bytes.count - together * chunk
        if rest > 0 || together == 0 {
            let isAlone = isRoot && together == 0
            let number = number + UInt64(together)
            values.append(hash(bytes, from: together * chunk, count: 1, rest, number, isRoot: isAlone).value(0))
        }
        switch values.count {
        case 1: return values[0]
        case 2: return parent(of: values[0], values[1], isRoot: isRoot)
        case 3: return parent(of: parent(of: values[0], values[1], isRoot: false), values[2], isRoot: isRoot)
        default:
            let left = parent(of: values[0], values[1], isRoot: false)
            return parent(of: left, parent(of: values[2], values[3], isRoot: false), isRoot: isRoot)
        }
    }

    /// Hashes some chunks side by side, all of the same length.
    private static func hash(
        _ bytes: [UInt8], from first: Int, count: Int, _ length: Int, _ number: UInt64, isRoot: Bool
    ) -> State {
        var state = State(initial)
        let blocks = max(1, (length + block - 1) / block)
        let counters = SIMD4<UInt64>(0, 1, 2, 3) &+ number
        bytes.withUnsafeBytes { bytes in
            for index in 0..<blocks {
                let taken = min(length - index * block, block)
                var flags: UInt32 = index == 0 ? start : 0
                if index == blocks - 1 { flags |= end | (isRoot ? root : 0) }
                if count == 4 {
                    state.compress(bytes, at: first + index * block, stride: chunk, counters, UInt32(taken), flags)
                    continue
                }
                withUnsafeTemporaryAllocation(byteCount: 4 * block, alignment: 16) { buffer in
                    buffer.initializeMemory(as: UInt8.self, repeating: 0)
                    for lane in 0..<count {
                        let start = first + lane * chunk + index * block
                        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[(lane * block)...])
                        part.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + taken]))
                    }
                    state.compress(
                        UnsafeRawBufferPointer(buffer), at: 0, stride: block, counters, UInt32(taken), flags)
                }
            }
        }
        return state
    }

    private static func parent(of left: Chaining, _ right: Chaining, isRoot: Bool) -> Chaining {
        var state = State(initial)
        withUnsafeTemporaryAllocation(byteCount: 4 * block, alignment: 16) { buffer in
            let words = buffer.initializeMemory(as: UInt32.self, repeating: 0)
            for word in 0..<8 {
                words[word] = left[word].littleEndian
                words[word + 8] = right[word].littleEndian
            }
            state.compress(
                UnsafeRawBufferPointer(buffer), at: 0, stride: block, .zero, UInt32(block),
                parent | (isRoot ? root : 0))
        }
        return state.value(0)
    }
}

extension Blake3 {
    /// The chaining values of four chunks, word by word.
    fileprivate struct State {
        private var low: Row
        private var high: Row

        init(_ value: SIMD8<UInt32>) {
            func row(_ from: Int) -> Row {
                Row(
                    Lanes(repeating: value[from]), Lanes(repeating: value[from + 1]), Lanes(repeating: value[from + 2]),
                    Lanes(repeating: value[from + 3]))
            }
            (low, high) = (row(0), row(4))
        }

        func value(_ lane: Int) -> SIMD8<UInt32> {
            SIMD8(
                low.x0[lane], low.x1[lane], low.x2[lane], low.x3[lane], high.x0[lane], high.x1[lane], high.x2[lane],
                high.x3[lane])
        }

        /// Takes in one block of each chunk.
        mutating func compress(
            _ bytes: UnsafeRawBufferPointer, at place: Int, stride: Int, _ counters: SIMD4<UInt64>, _ length: UInt32,
            _ flags: UInt32
        ) {
            var (a, b) = (low, high)
            var c = Row(
                Lanes(repeating: 0x6A09_E667), Lanes(repeating: 0xBB67_AE85), Lanes(repeating: 0x3C6E_F372),
                Lanes(repeating: 0xA54F_F53A))
            var d = Row(
                Lanes(truncatingIfNeeded: counters), Lanes(truncatingIfNeeded: counters &>> 32),
                Lanes(repeating: length), Lanes(repeating: flags))
            var m = Message(bytes, at: place, stride: stride)
            for round in 0..<7 {
                if round > 0 { m.permute() }
                Self.quarter(&a.x0, &b.x0, &c.x0, &d.x0, m.a.x0, m.a.x1)
                Self.quarter(&a.x1, &b.x1, &c.x1, &d.x1, m.a.x2, m.a.x3)
                Self.quarter(&a.x2, &b.x2, &c.x2, &d.x2, m.b.x0, m.b.x1)
                Self.quarter(&a.x3, &b.x3, &c.x3, &d.x3, m.b.x2, m.b.x3)
                Self.quarter(&a.x0, &b.x1, &c.x2, &d.x3, m.c.x0, m.c.x1)
                Self.quarter(&a.x1, &b.x2, &c.x3, &d.x0, m.c.x2, m.c.x3)
                Self.quarter(&a.x2, &b.x3, &c.x0, &d.x1, m.d.x0, m.d.x1)
                Self.quarter(&a.x3, &b.x0, &c.x1, &d.x2, m.d.x2, m.d.x3)
            }
            low = a ^ c
            high = b ^ d
        }

        @inline(__always)
        private static func quarter(
            _ a: inout Lanes, _ b: inout Lanes, _ c: inout Lanes, _ d: inout Lanes, _ x: Lanes, _ y: Lanes
        ) {
            a = a &+ b &+ x
            d = rotated(d ^ a, 16)
            c = c &+ d
            b = rotated(b ^ c, 12)
            a = a &+ b &+ y
            d = rotated(d ^ a, 8)
            c = c &+ d
            b = rotated(b ^ c, 7)
        }

        @inline(__always)
        private static func rotated(_ value: Lanes, _ bits: UInt32) -> Lanes {
            value &>> Lanes(repeating: bits) | value &<< Lanes(repeating: 32 &- bits)
        }
    }

    /// Four words, each in four lanes.
    private struct Row {
        var x0, x1, x2, x3: Lanes

        @inline(__always)
        init(_ x0: Lanes, _ x1: Lanes, _ x2: Lanes, _ x3: Lanes) {
            (self.x0, self.x1, self.x2, self.x3) = (x0, x1, x2, x3)
        }

        /// Four words of each of four blocks.
        @inline(__always)
        init(_ bytes: UnsafeRawBufferPointer, at place: Int, stride: Int) {
            func four(_ lane: Int) -> Lanes {
                Lanes(littleEndian: bytes.loadUnaligned(fromByteOffset: place &+ lane &* stride, as: Lanes.self))
            }
            let (a, b, c, d) = (four(0), four(1), four(2), four(3))
            self.init(
                Lanes(a[0], b[0], c[0], d[0]), Lanes(a[1], b[1], c[1], d[1]), Lanes(a[2], b[2], c[2], d[2]),
                Lanes(a[3], b[3], c[3], d[3]))
        }

        @inline(__always)
        static func ^ (left: Row, right: Row) -> Row {
            Row(left.x0 ^ right.x0, left.x1 ^ right.x1, left.x2 ^ right.x2, left.x3 ^ right.x3)
        }
    }

    /// The sixteen words of four blocks.
    private struct Message {
        var a, b, c, d: Row

        @inline(__always)
        init(_ bytes: UnsafeRawBufferPointer, at place: Int, stride: Int) {
            a = Row(bytes, at: place, stride: stride)
            b = Row(bytes, at: place &+ 16, stride: stride)
            c = Row(bytes, at: place &+ 32, stride: stride)
            d = Row(bytes, at: place &+ 48, stride: stride)
        }

        /// The order that the next round takes them in: 2 6 3 10 7 0 4 13 1 11 12 5 9 14 15 8.
        @inline(__always)
        mutating func permute() {
            let (a, b, c, d) = (a, b, c, d)
            self.a = Row(a.x2, b.x2, a.x3, c.x2)
            self.b = Row(b.x3, a.x0, b.x0, d.x1)
            self.c = Row(a.x1, c.x3, d.x0, b.x1)
            self.d = Row(c.x1, d.x2, d.x3, c.x0)
        }
    }
}

extension SIMD4<UInt32> {
    fileprivate init(littleEndian value: Self) {
        self = Self(
            UInt32(littleEndian: value[0]), UInt32(littleEndian: value[1]), UInt32(littleEndian: value[2]),
            UInt32(littleEndian: value[3]))
    }
}

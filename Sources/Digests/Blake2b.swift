/// BLAKE2b (RFC 7693) with a digest of any length and without a key, as `b2sum --length` has it; OpenSSL knows the
/// longest alone.
struct Blake2b {
    private typealias Row = SIMD4<UInt64>

    private static let block = 128
    private static let initial: (low: SIMD4<UInt64>, high: SIMD4<UInt64>) = (
        SIMD4(0x6A09_E667_F3BC_C908, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1),
        SIMD4(0x510E_527F_ADE6_82D1, 0x9B05_688C_2B3E_6C1F, 0x1F83_D9AB_FB41_BD6B, 0x5BE0_CD19_137E_2179)
    )
    /// The order in which each round takes the words of the message.
    private static let schedule: [Int] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
        11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4, 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
        9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13, 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
        12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11, 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
        6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5, 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
    ]

    private let size: Int
    private var low = Self.initial.low
    private var high = Self.initial.high
    private var count: UInt64 = 0
    /// What was taken in and not yet hashed; the last block is hashed in another way than those before it.
    private var pending: [UInt8] = []

    /// A digest of so many bytes, 1 to 64.
    init(size: Int) {
        self.size = size
        low[0] ^= 0x0101_0000 ^ UInt64(size)
        pending.reserveCapacity(Self.block)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if pending.count == Self.block { compress(isLast: false) }
            let next = rest.prefix(Self.block - pending.count)
            pending.append(contentsOf: next)
            rest = rest[next.endIndex...]
        }
    }

    func finish() -> [UInt8] {
        var last = self
        last.compress(isLast: true)
        let words = (0..<4).map { last.low[$0] } + (0..<4).map { last.high[$0] }
        return Array(words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }.prefix(size))
    }

    private mutating func compress(isLast: Bool) {
        count &+= UInt64(pending.count)
        pending.append(contentsOf: repeatElement(0, count: Self.block - pending.count))
        var (a, b) = (low, high)
        var c = Self.initial.low
        var d = Self.initial.high ^ Row(count, 0, isLast ? .max : 0, 0)
        pending.withUnsafeBytes { bytes in
            Self.schedule.withUnsafeBufferPointer { schedule in
                func words(_ start: Int) -> Row {
                    func word(_ index: Int) -> UInt64 {
                        let offset = schedule[(start &+ index) % schedule.count] &* 8
                        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    }
                    return Row(word(0), word(2), word(4), word(6))
                }
                for round in 0..<12 {
                    let start = round &* 16
                    Self.mix(&a, &b, &c, &d, words(start), words(start &+ 1))
                    (b, c, d) = (Self.turned(b, 1), Self.turned(c, 2), Self.turned(d, 3))
                    Self.mix(&a, &b, &c, &d, words(start &+ 8), words(start &+ 9))
                    (b, c, d) = (Self.turned(b, 3), Self.turned(c, 2), Self.turned(d, 1))
                }
            }
        }
        low ^= a ^ c
        high ^= b ^ d
        pending.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    private static func mix(_ a: inout Row, _ b: inout Row, _ c: inout Row, _ d: inout Row, _ x: Row, _ y: Row) {
        a = a &+ b &+ x
        d = rotated(d ^ a, 32)
        c = c &+ d
        b = rotated(b ^ c, 24)
        a = a &+ b &+ y
        d = rotated(d ^ a, 16)
        c = c &+ d
        b = rotated(b ^ c, 63)
    }

    @inline(__always)
    private static func rotated(_ row: Row, _ bits: UInt64) -> Row {
        row &>> Row(repeating: bits) | row &<< Row(repeating: 64 &- bits)
    }

    /// The row, beginning with another of its words.
    @inline(__always)
    private static func turned(_ row: Row, _ by: Int) -> Row {
        switch by {
        case 1: Row(row[1], row[2], row[3], row[0])
        case 2: Row(row[2], row[3], row[0], row[1])
        default: Row(row[3], row[0], row[1], row[2])
        }
    }
}

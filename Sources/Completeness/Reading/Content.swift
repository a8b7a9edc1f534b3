import Glibc

/// The content of a file, read where a format looks. What lies beyond its end is not there, whatever leads to it.
final class Content {
    let size: Int64
    private let descriptor: Int32
    /// What was read last, for those that look at one place after the other.
    private var window: [UInt8] = []
    private var windowStart: Int64 = 0
    /// Where the zeros at the end begin, once that was asked.
    private var unwritten: Int64?

    /// How much is read around a place.
    private static let windowSize = 4096
    /// How much is read at once of what is read from its beginning to its end.
    private static let pieceSize = 256 << 10
    /// The most that is read so.
    static let mostStreamed: Int64 = 1 << 30

    /// Numbers that files give are no larger than this here, so that some can be added.
    static let mostNumber: Int64 = 1 << 60

    init(_ descriptor: Int32) throws(ReadError) {
        self.descriptor = descriptor
        size = min(Int64(lseek(descriptor, 0, SEEK_END)), Self.mostNumber)
        guard size >= 0 else { throw ReadError(errno: errno) }
    }

    /// The bytes at a place, as far as they are there.
    func bytes(_ offset: Int64, _ count: Int) throws(ReadError) -> ArraySlice<UInt8> {
        guard offset >= 0, offset < size, count > 0 else { return [] }
        let count = Int(min(Int64(count), size - offset))
        if offset < windowStart || offset + Int64(count) > windowStart + Int64(window.count) {
            window = try read(offset, max(count, Self.windowSize))
            windowStart = offset
        }
        let start = Int(offset - windowStart)
        return ArraySlice(window.dropFirst(start).prefix(count))
    }

    func tail(_ count: Int) throws(ReadError) -> ArraySlice<UInt8> {
        try bytes(max(0, size - Int64(count)), count)
    }

    func has(_ expected: [UInt8], at offset: Int64) throws(ReadError) -> Bool {
        try bytes(offset, expected.count).elementsEqual(expected)
    }

    func has(_ expected: StaticString, at offset: Int64 = 0) throws(ReadError) -> Bool {
        try has(expected.withUTF8Buffer { Array($0) }, at: offset)
    }

    /// A number there, the lowest byte first; nil where it ends before.
    func little(_ offset: Int64, _ count: Int) throws(ReadError) -> Int64? { try bytes(offset, count).little(count) }

    /// The same, the highest byte first.
    func big(_ offset: Int64, _ count: Int) throws(ReadError) -> Int64? { try bytes(offset, count).big(count) }

    /// Calls with one piece after the other from a place on, until one is enough; whether one was. Nil where there is
    /// more than is read.
    func stream(from start: Int64 = 0, _ body: (UnsafeRawBufferPointer) -> Bool) throws(ReadError) -> Bool? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        var offset = start
        while offset < size {
            guard offset - start < Self.mostStreamed else { return nil }
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ReadError(errno: errno) }
            if count == 0 { break }
            if body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { return true }
            offset += Int64(count)
        }
        return false
    }

    /// Where the zeros begin that end at a place; nil where there are more than are read.
    func zeros(before end: Int64) throws(ReadError) -> Int64? {
        var place = end
        while place > 0 {
            guard end - place < Self.mostStreamed else { return nil }
            let start = max(0, place - Int64(Self.pieceSize))
            let piece = try read(start, Int(place - start))
            // All are zero where the first is and each is as the one before it.
            let isZero = piece.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, bytes.first == 0 else { return false }
                return memcmp(base, base + 1, bytes.count - 1) == 0
            }
            if !isZero { return start + Int64((piece.lastIndex { $0 != 0 } ?? -1) + 1) }
            place = start
        }
        return 0
    }

    /// Whether there are only zeros from a place on, as where a file was given its room and not its content.
    func isUnwritten(from place: Int64) throws(ReadError) -> Bool {
        if let unwritten { return place >= unwritten }
        unwritten = try zeros(before: size) ?? 0
        return try isUnwritten(from: place)
    }

    private func read(_ offset: Int64, _ count: Int) throws(ReadError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let place = off_t(offset) + filled
                let got = pread(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, place)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { return }
                filled += got
            }
        }
        if failure != 0 { throw ReadError(errno: failure) }
        return bytes
    }
}

extension Collection<UInt8> {
    /// So many bytes as a number, the lowest first, up to `Content.mostNumber`; nil where there are fewer.
    func little(_ count: Int) -> Int64? { prefix(count).reversed().big(count) }

    /// The same, the highest first.
    func big(_ count: Int) -> Int64? {
        let bytes = prefix(count)
        guard bytes.count == count else { return nil }
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Swift.min(Int64(clamping: number), Content.mostNumber)
    }
}

import CArchive
import Glibc

/// Inflates a gzip file by zlib itself, which checks each member's length and CRC: libarchive reads past both without a
/// look, so that a flipped bit would pass for content.
final class GzipInflater: BlockSource {
    private static let outputSize = 256 << 10

    private let input: ArchiveInput
    /// zlib keeps its address, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>
    private var isFirstMember = true
    private var isWithinMember = false

    /// Inflates what the input gives.
    init(_ input: ArchiveInput) throws(ArchiveError) {
        self.input = input
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(capacity: Self.outputSize)
        // 15 bits of window, and 16 for a gzip header and trailer (zlib.h).
        guard inflateInit2_(stream, 15 + 16, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .system(action: "read", entry: nil, errno: .noMemory)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// The next block, valid until the next call; nil once the last member's end was seen and found right.
    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        stream.pointee.next_out = output
        stream.pointee.avail_out = UInt32(Self.outputSize)
        while stream.pointee.avail_out > 0 {
            // What there is goes out first: long may be read between members.
            if !isWithinMember, stream.pointee.avail_out < Self.outputSize { break }
            if stream.pointee.avail_in == 0, try !refill() {
                if isWithinMember || isFirstMember { throw .damaged(nil, "ends too early") }
                break
            }
            if !isWithinMember, try !beginMember() { break }
            let status = inflate(stream, Z_NO_FLUSH)
            switch status {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: endMember()
            default:
                let said = stream.pointee.msg.map { String(cString: $0) } ?? "zlib status \(status)"
                throw .damaged(nil, detail: said)
            }
        }
        let count = Self.outputSize - Int(stream.pointee.avail_out)
        return count > 0 ? UnsafeRawBufferPointer(start: output, count: count) : nil
    }

    /// Members may follow one another, and zeros the last one (tapes are filled up so). Anything else is no gzip any
    /// more.
    private func beginMember() throws(ArchiveError) -> Bool {
        while !isFirstMember, let next = stream.pointee.next_in, next.pointee == 0 {
            stream.pointee.next_in = next + 1
            stream.pointee.avail_in -= 1
            if stream.pointee.avail_in == 0, try !refill() { return false }
        }
        isWithinMember = true
        return true
    }

    private func endMember() {
        isFirstMember = false
        isWithinMember = false
        inflateReset(stream)
    }

    private func refill() throws(ArchiveError) -> Bool {
        guard let block = try input.next() else { return false }
        // zlib only reads there.
        stream.pointee.next_in = UnsafeMutableRawPointer(mutating: block.baseAddress)?
            .assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(block.count)
        return true
    }
}

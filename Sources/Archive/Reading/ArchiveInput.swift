import CLinux
import Glibc
import SystemPackage

/// Reads an archive's file, at a place of its own, and lets the work be called off between any two blocks. What undoes
/// a compression may swallow much without giving anything (zeros that fill up a tape, frames to be skipped), so this is
/// asked where it reads, not only where it gives.
final class ArchiveInput: DecoderInput {
    /// What is read at once.
    private static let blockSize = 128 << 10

    private let descriptor: Int32
    let budget: Budget
    private let counts: Bool
    private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
    /// Where the next block begins.
    private var offset: Int64 = 0
    private static let windowSize = 4 << 10
    private var window: [UInt8] = []
    private var windowStart: Int64 = 0
    /// The file's length.
    let size: Int64
    /// What ended the reading, for whoever only learns from a library that there is nothing more.
    private(set) var failure: ArchiveError?

    /// Reads from the file's beginning. The descriptor must stay open. `counts`: whether what is read is what the
    /// archive's size is measured by.
    init(_ descriptor: Int32, _ budget: Budget, counts: Bool) throws(ArchiveError) {
        var status = stat()
        guard dm_status(descriptor, &status) == 0 else {
            throw .system(action: "read", entry: nil, errno: Errno(rawValue: errno))
        }
        self.descriptor = descriptor
        self.budget = budget
        self.counts = counts
        size = Int64(status.st_size)
    }

    deinit { block.deallocate() }

    var whole: ArchiveInput? { self }

    /// Another one of the same file, with a place of its own.
    func another() throws(ArchiveError) -> ArchiveInput { try ArchiveInput(descriptor, budget, counts: counts) }

    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        if let failure { throw failure }
        while true {
            do throws(ArchiveError) { try budget.checkStopped() } catch { throw fail(error) }
            let count = pread(descriptor, block.baseAddress, block.count, off_t(offset))
            if count > 0 {
                offset += Int64(count)
                if counts { budget.consume(Int64(count)) }
                return UnsafeRawBufferPointer(rebasing: block[..<count])
            }
            if count == 0 { return nil }
            if errno != EINTR { throw fail(.system(action: "read", entry: nil, errno: Errno(rawValue: errno))) }
        }
    }

    /// Reads exactly so many bytes from a place, or as many as there are. Few bytes come out of a window that is read
    /// at once: who looks for the marks of a file of many small blocks asks very often. Where they are far from those
    /// before, as the marks of large blocks are, a window would be read for nothing.
    func read(_ count: Int, at offset: Int64) throws(ArchiveError) -> [UInt8] {
        guard count <= Self.windowSize / 4 else { return try load(count, at: offset) }
        let start = offset - windowStart
        if start >= 0, start + Int64(count) <= Int64(window.count) {
            return Array(window[Int(start)..<Int(start) + count])
        }
        try budget.checkStopped()
        let isNear = start >= 0 && start < Int64(Self.windowSize)
        window = try load(isNear ? Self.windowSize : count, at: offset)
        windowStart = offset
        return Array(window.prefix(count))
    }

    private func load(_ count: Int, at offset: Int64) throws(ArchiveError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        var filled = 0
        while filled < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + filled }, $0.count - filled, off_t(offset) + off_t(filled))
            }
            if got == 0 { break }
            if got > 0 {
                filled += got
            } else if errno != EINTR {
                throw .system(action: "read", entry: nil, errno: Errno(rawValue: errno))
            }
        }
        return filled == bytes.count ? bytes : Array(bytes[..<filled])
    }

    /// Where the zeros begin that end at a place.
    func zeros(before end: Int64) throws(ArchiveError) -> Int64 {
        var place = end
        while place > 0 {
            try budget.checkStopped()
            let start = max(0, place - Int64(Self.blockSize))
            let piece = try load(Int(place - start), at: start)
            if piece.withUnsafeBytes({ $0.firstNonzero }) != nil {
                return start + Int64((piece.lastIndex { $0 != 0 } ?? 0) + 1)
            }
            place = start
        }
        return 0
    }

    /// Throws where anything but zeros (which fill up tapes) lies behind a place.
    func requireZeros(from place: Int64) throws(ArchiveError) {
        guard place < size, seek(to: place) != nil else { return }
        while let rest = try next() {
            if let junk = rest.firstNonzero { throw .trailing(size - offset + Int64(rest.count - junk)) }
        }
    }

    /// Goes on elsewhere in the file; gives the new place, or nil where there is no such place.
    func seek(to place: Int64) -> Int64? {
        guard (0...size).contains(place) else { return nil }
        offset = place
        return place
    }

    /// Where the next block begins.
    var position: Int64 { offset }

    private func fail(_ error: ArchiveError) -> ArchiveError {
        failure = error
        return error
    }
}

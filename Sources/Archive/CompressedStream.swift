import CArchive
import Glibc

/// Undoes one compression and gives what comes out, block by block, to a reader of the archive inside or to a file.
///
/// Kept apart from the reader of the archive inside, so that the stream can be read to its end: where the checksums are.
final class CompressedStream {
    /// As much of the content as is looked at to tell what it is.
    private static let headLength = 1024
    /// The longest run of zeros that is taken for a tar without entries (twice what GNU tar writes by default).
    private static let longestEmptyTar = 20 << 10

    private let handle: ArchiveHandle
    private var head: UnsafeMutableRawBufferPointer
    private var isHeadPending = true
    /// What stopped the stream, for the reader inside, which only learns that there is nothing more.
    private(set) var failure: ArchiveError?
    /// When the content was last changed, where the stream says so (gzip).
    private(set) var modified: timespec?

    /// Opens the stream and reads as much as is needed to tell what is inside.
    init(_ descriptor: Int32, _ compression: ArchiveFormat.Compression) throws(ArchiveError) {
        handle = try ArchiveHandle.make()
        head = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        try handle.enable(compression)
        guard archive_read_open_fd(handle.pointer, descriptor, ArchiveReader.blockSize) == ARCHIVE_OK else {
            throw handle.openingFailure()
        }
        guard let entry = try handle.nextHeader() else { throw .damaged(nil) }
        if archive_entry_mtime_is_set(entry) != 0 {
            modified = timespec(tv_sec: archive_entry_mtime(entry), tv_nsec: 0)
        }
        try readHead()
    }

    deinit { head.deallocate() }

    /// Which archive is inside; nil where it is one file.
    var container: ArchiveFormat.Container? {
        switch ArchiveFormat.of(head: UnsafeRawBufferPointer(head)) {
        case .container(.tar): .tar
        case .container(.cpio): .cpio
        default: isEmptyTar ? .tar : nil
        }
    }

    /// The blocks of zeros that end every tar, and nothing else.
    private var isEmptyTar: Bool {
        head.count >= 1024 && head.count <= Self.longestEmptyTar && head.count % 512 == 0 && head.allSatisfy { $0 == 0 }
    }

    /// Reads on until there is enough to tell; a stream that may be a tar without entries is read as far as one goes.
    private func readHead() throws(ArchiveError) {
        var bytes: [UInt8] = []
        while bytes.count < Self.headLength || (bytes.count <= Self.longestEmptyTar && bytes.allSatisfy { $0 == 0 }) {
            guard case .data(let block, _) = try handle.nextBlock(of: nil) else { break }
            bytes += block
        }
        head = .allocate(byteCount: bytes.count, alignment: 16)
        head.copyBytes(from: bytes)
    }

    /// The next block, valid until the next call; nil at the end.
    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        if let failure { throw failure }
        if isHeadPending {
            isHeadPending = false
            if head.count > 0 { return UnsafeRawBufferPointer(head) }
        }
        do throws(ArchiveError) {
            while true {
                switch try handle.nextBlock(of: nil) {
                case .data(let block, _) where block.isEmpty: continue
                case .data(let block, _): return block
                case .end: return nil
                }
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// Reads what is left, so that a stream that is cut or wrong after the archive's last entry does not pass.
    func drain() throws(ArchiveError) {
        while try next() != nil {}
    }
}

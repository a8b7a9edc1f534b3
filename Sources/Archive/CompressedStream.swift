import CArchive

/// Undoes one compression and gives what comes out, block by block, to a reader of the archive inside or to a file.
///
/// Kept apart from the reader of the archive inside, so that the stream can be read to its end: where the checksums
/// are.
final class CompressedStream {
    /// As much of the content as is looked at to tell what it is.
    private static let headLength = 1024
    /// The longest run of zeros that is taken for a tar without entries (twice what GNU tar writes by default).
    private static let longestEmptyTar = 20 << 10

    /// What gives the content: libarchive, or for gzip zlib.
    private enum Source: ~Copyable {
        case library(ArchiveHandle)
        case gzip(GzipInflater)
    }

    private let input: ArchiveInput
    private let source: Source
    private var head = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var isHeadPending = true
    /// What stopped the stream, for the reader inside, which only learns that there is nothing more.
    private(set) var failure: ArchiveError?

    /// Opens the stream and reads as much as is needed to tell what is inside.
    init(_ input: ArchiveInput, _ compression: ArchiveFormat.Compression) throws(ArchiveError) {
        self.input = input
        if compression == .gzip {
            source = .gzip(try GzipInflater(input))
        } else {
            source = .library(try Self.open(input, compression))
        }
        try readHead()
    }

    private static func open(
        _ input: ArchiveInput, _ compression: ArchiveFormat.Compression
    ) throws(ArchiveError) -> ArchiveHandle {
        let handle = try ArchiveHandle.make()
        try handle.enable(compression)
        let client = Unmanaged.passUnretained(input).toOpaque()
        if archive_read_open(handle.pointer, client, nil, readFromInput, nil) != ARCHIVE_OK {
            throw input.failure ?? handle.openingFailure()
        }
        do throws(ArchiveError) {
            guard try handle.nextHeader() != nil else { throw .damaged(nil) }
        } catch {
            throw input.failure ?? error
        }
        return handle
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
            guard let block = try nextFromSource() else { break }
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
            return try nextFromSource()
        } catch {
            failure = error
            throw error
        }
    }

    private func nextFromSource() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        do throws(ArchiveError) {
            // A little that is read may give much, and a reader may pass over all of it.
            try input.checkStopped()
            return try undo()
        } catch {
            throw input.failure ?? error
        }
    }

    private func undo() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        switch source {
        case .gzip(let inflater): return try inflater.next()
        case .library(let handle):
            while case .data(let block, _) = try handle.nextBlock(of: nil) {
                if !block.isEmpty { return block }
            }
            return nil
        }
    }

    /// Reads what is left, so that a stream that is cut or wrong after the archive's last entry does not pass.
    func drain() throws(ArchiveError) {
        while try next() != nil {}
    }
}

/// Hands libarchive the next block of the file that it was opened on.
private func readFromInput(
    _: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let client, let buffer else { return -1 }
    let input = Unmanaged<ArchiveInput>.fromOpaque(client).takeUnretainedValue()
    do throws(ArchiveError) {
        let block = try input.next()
        buffer.pointee = UnsafeRawPointer(block.baseAddress)
        return block.count
    } catch {
        return -1
    }
}

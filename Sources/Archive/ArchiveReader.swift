import CArchive
import Glibc

/// Reads an archive: entry by entry, and the data of each block by block. Memory stays flat whatever the archive's
/// size.
///
/// Only the format that the file's own content says is enabled, and never an external program. Used on one thread.
package struct ArchiveReader: ~Copyable {
    /// What is read from the file at once.
    static let blockSize = 128 << 10

    private let handle: ArchiveHandle
    private let stream: CompressedStream?
    private let container: ArchiveFormat.Container
    private var entries: Int64 = 0
    private var current: [UInt8]?

    private init(handle: consuming ArchiveHandle, stream: CompressedStream?, container: ArchiveFormat.Container) {
        self.handle = handle
        self.stream = stream
        self.container = container
    }

    /// What a file turns out to hold.
    package enum Opened: ~Copyable {
        /// Entries.
        case archive(ArchiveReader)
        /// A stream that is no archive: one compressed file.
        case file(LoneFile)
    }

    /// Opens a file of that format by its descriptor, which must stay open as long as the reader lives. `isStopped` is
    /// asked wherever a compressed file is read, also where nothing comes of it that progress could be told of.
    package static func open(
        _ descriptor: Int32, format: ArchiveFormat, isStopped: @escaping () -> Bool = { false }
    ) throws(ArchiveError) -> Opened {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw .system(action: "read", entry: nil, errno: .init(rawValue: errno))
        }
        switch format {
        case .container(let container):
            // In two steps: an error thrown amid making the case crashes (Swift 6.3.1, no copyable payload).
            let reader = try open(descriptor, container)
            return .archive(reader)
        case .compressed(let compression):
            let stream = try CompressedStream(ArchiveInput(descriptor, isStopped: isStopped), compression)
            guard let container = stream.container else { return .file(LoneFile(stream: stream)) }
            let reader = try open(stream, container)
            return .archive(reader)
        }
    }

    private static func open(
        _ descriptor: Int32, _ container: ArchiveFormat.Container
    ) throws(ArchiveError) -> ArchiveReader {
        // libarchive looks for a directory with entries and calls one without damaged.
        if container == .zip, isEmptyZip(descriptor) { throw .empty }
        let handle = try ArchiveHandle.make()
        try handle.enable(container)
        let status = archive_read_open_fd(handle.pointer, descriptor, blockSize)
        if status != ARCHIVE_OK { throw handle.openingFailure() }
        return ArchiveReader(handle: handle, stream: nil, container: container)
    }

    private static func open(
        _ stream: CompressedStream, _ container: ArchiveFormat.Container
    ) throws(ArchiveError) -> ArchiveReader {
        let handle = try ArchiveHandle.make()
        try handle.enable(container)
        let client = Unmanaged.passUnretained(stream).toOpaque()
        let status = archive_read_open(handle.pointer, client, nil, readFromStream, nil)
        if status != ARCHIVE_OK {
            if let failure = stream.failure { throw failure }
            throw handle.openingFailure()
        }
        return ArchiveReader(handle: handle, stream: stream, container: container)
    }

    /// Whether the file begins with the record that ends a zip (APPNOTE 4.3.16).
    private static func isEmptyZip(_ descriptor: Int32) -> Bool {
        var mark = [UInt8](repeating: 0, count: 4)
        guard pread(descriptor, &mark, mark.count, 0) == mark.count else { return false }
        return mark == [0x50, 0x4B, 5, 6]
    }

    /// The next entry; nil after the last one, once it is sure that the archive is whole and not empty.
    mutating func next() throws(ArchiveError) -> ArchiveEntry? {
        if current != nil { try attributing { (handle) throws(ArchiveError) in try handle.skipData(of: current) } }
        let end = handle.position
        let found = try EntryNames.asUTF8 { () throws(ArchiveError) -> ArchiveEntry? in
            try attributing { (handle) throws(ArchiveError) -> ArchiveEntry? in
                guard let header = try handle.nextHeader() else { return nil }
                guard let entry = ArchiveEntry(header) else {
                    throw ArchiveError.damaged(
                        current, "is followed by one whose name cannot be read", detail: handle.message)
                }
                return entry
            }
        }
        guard let entry = found else {
            try checkEnd(after: end)
            return nil
        }
        entries += 1
        current = entry.path
        return entry
    }

    /// The next block of the current entry's data.
    func nextBlock() throws(ArchiveError) -> ArchiveHandle.Block {
        let block = try attributing { (handle) throws(ArchiveError) in try handle.nextBlock(of: current) }
        // Only in tar can a hole end a file; other formats leave any number there.
        if case .end = block, container != .tar { return .end(offset: 0) }
        return block
    }

    /// A tar that was cut between two entries looks complete to the library: only the two empty blocks that end it
    /// tell.
    private func checkEnd(after end: Int64) throws(ArchiveError) {
        if container == .tar, handle.position - end < 1024 {
            throw .damaged(nil, "ends too early: the mark of its end is missing")
        }
        if entries == 0 { throw .empty }
        try stream?.drain()
    }

    /// What stopped the stream below is the cause of what the reader above says.
    private func attributing<Result>(
        _ body: (borrowing ArchiveHandle) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        do throws(ArchiveError) {
            return try body(handle)
        } catch {
            throw stream?.failure ?? error
        }
    }
}

/// Hands libarchive the next block of the stream that it was opened on.
private func readFromStream(
    _: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let client, let buffer else { return -1 }
    let stream = Unmanaged<CompressedStream>.fromOpaque(client).takeUnretainedValue()
    do throws(ArchiveError) {
        guard let block = try stream.next() else { return 0 }
        buffer.pointee = block.baseAddress
        return block.count
    } catch {
        return -1
    }
}

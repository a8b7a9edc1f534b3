import CArchive

/// Undoes one compression by libarchive.
final class LibraryDecoder: BlockSource {
    private let input: ArchiveInput
    private let handle: ArchiveHandle

    /// Opens the stream.
    init(_ input: ArchiveInput, _ compression: ArchiveFormat.Compression) throws(ArchiveError) {
        self.input = input
        handle = try Self.open(input, compression)
    }

    private static func open(
        _ input: ArchiveInput, _ compression: ArchiveFormat.Compression
    ) throws(ArchiveError) -> ArchiveHandle {
        let handle = try ArchiveHandle.make()
        try handle.enable(compression)
        let client = Unmanaged.passUnretained(input).toOpaque()
        if archive_read_open(handle.pointer, client, nil, readFromInput, nil) != ARCHIVE_OK {
            throw input.failure ?? handle.failure(entry: nil)
        }
        do throws(ArchiveError) {
            guard try handle.nextHeader() != nil else { throw .damaged(nil) }
            // The one that is found by bidding goes on to undo what it finds inside.
            guard handle.layers == 1 else {
                throw .unsupported(nil, "is compressed more than once", detail: "\(handle.layers) layers")
            }
        } catch {
            throw input.failure ?? error
        }
        return handle
    }

    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        do throws(ArchiveError) {
            while case .data(let block, _) = try handle.nextBlock(of: nil) {
                if !block.isEmpty { return block }
            }
            // Where it does not know what comes next, the library takes it for the end.
            try input.requireZeros(from: handle.consumed)
            return nil
        } catch {
            throw input.failure ?? error
        }
    }
}

/// Hands libarchive the next block of the file that it was opened on.
private func readFromInput(
    _: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let client, let buffer else { return -1 }
    let input = Unmanaged<ArchiveInput>.fromOpaque(client).takeUnretainedValue()
    do throws(ArchiveError) {
        guard let block = try input.next() else { return 0 }
        buffer.pointee = block.baseAddress
        return block.count
    } catch {
        return -1
    }
}

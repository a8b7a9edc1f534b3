import CArchive

/// Undoes one compression by libarchive.
final class LibraryDecoder: BlockSource {
    private let input: any DecoderInput
    private let source: Source
    private let handle: ArchiveHandle
    private let compression: ArchiveFormat.Compression

    /// What libarchive is given to call back with.
    fileprivate final class Source {
        let input: any DecoderInput

        init(_ input: any DecoderInput) { self.input = input }
    }

    init(_ input: any DecoderInput, _ compression: ArchiveFormat.Compression) throws(ArchiveError) {
        self.input = input
        self.compression = compression
        source = Source(input)
        handle = try Self.open(source, compression)
    }

    private static func open(
        _ source: Source, _ compression: ArchiveFormat.Compression
    ) throws(ArchiveError) -> ArchiveHandle {
        let input = source.input
        let handle = try ArchiveHandle.make()
        try handle.enable(compression)
        let client = Unmanaged.passUnretained(source).toOpaque()
        if libarchive.archive_read_open(handle.pointer, client, nil, readFromInput, nil) != ARCHIVE_OK {
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
            try input.whole?.requireZeros(from: handle.consumed)
            return nil
        } catch {
            if let failure = input.failure { throw failure }
            throw try trailing(error) ?? error
        }
    }

    /// What follows the end of a stream and begins no other is damage to the library.
    private func trailing(_ error: ArchiveError) throws(ArchiveError) -> ArchiveError? {
        guard let input = input.whole, case .bad(let problem) = error, problem.code == .damaged else { return nil }
        switch compression {
        case .zstd where problem.detail.contains("Unknown frame"): return .trailing(input.size - handle.consumed)
        case .xz:
            let start = max(0, input.size - Int64(Self.tailSize))
            let tail = try input.read(Self.tailSize, at: start)
            // The footer that ends a stream has a checksum of its own (The .xz File Format 1.2.0, 2.1.2).
            for end in stride(from: tail.count - 1, through: 12, by: -1) where tail[end - 1] == UInt8(ascii: "Z") {
                let footer = tail[(end - 12)..<end]
                let sum = Array(footer[(end - 8)..<(end - 2)]).withUnsafeBytes { CRC32.of($0, after: 0) }
                if tail[end - 2] == UInt8(ascii: "Y"), Fields(Array(footer)).u32(0) == sum {
                    return .trailing(Int64(tail.count - end))
                }
            }
            return nil
        default: return nil
        }
    }

    /// How far before the end of the file that of a stream is looked for.
    private static let tailSize = 64 << 10
}

/// Hands libarchive the next block of the file that it was opened on.
private func readFromInput(
    _: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let client, let buffer else { return -1 }
    let input = Unmanaged<LibraryDecoder.Source>.fromOpaque(client).takeUnretainedValue().input
    do throws(ArchiveError) {
        guard let block = try input.next() else { return 0 }
        buffer.pointee = block.baseAddress
        return block.count
    } catch {
        return -1
    }
}

/// The content of an archive made for tapes, or of one compressed file: as it lies in the file, or what comes out of
/// its one layer of compression.
///
/// Kept apart from the reader of the archive inside, so that it can be read to its end: where the checksums are, and
/// where what an archive's reader would not look at must not lie.
final class ByteStream {
    /// As much of the content as is looked at to tell what it is.
    private static let headLength = 1024
    /// The longest run of zeros that is taken for a tar without entries (twice what GNU tar writes by default).
    private static let longestEmptyTar = 20 << 10
    /// Compressed files smaller than this are not worth a thread.
    static let aheadFrom: Int64 = 64 << 10
    /// The two blocks that end a tar, and as much again as a reader may look ahead.
    private static let tailLength = 2048

    let budget: Budget
    /// The file, where it is not compressed.
    private let plain: ArchiveInput?
    private var source: any BlockSource
    private var head = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var isHeadPending = true
    /// The block that was given last, and how many bytes with it.
    private var last = UnsafeRawBufferPointer(start: nil, count: 0)
    private var given: Int64 = 0
    /// The end of what was given before that, as much as tells the mark of a tar's end.
    private var tail: [UInt8] = []
    /// What stopped the stream, for the reader inside, which only learns that there is nothing more.
    private(set) var failure: ArchiveError?

    /// An archive that is not compressed.
    init(plain input: ArchiveInput, _ budget: Budget) {
        self.budget = budget
        plain = input
        source = input
        isHeadPending = false
    }

    /// Opens a compressed file and reads as much as is needed to tell what is inside. `threads`: how
    /// many may work at it, this one among them.
    init(
        _ input: ArchiveInput, _ compression: ArchiveFormat.Compression, _ budget: Budget, threads: Int
    ) throws(ArchiveError) {
        self.budget = budget
        plain = nil
        let isLarge = threads > 1 && input.size >= Self.aheadFrom
        if isLarge, compression == .xz, let blocks = try XZBlocks(input, threads: threads) {
            source = blocks
            try readHead()
            return
        }
        source = compression == .gzip ? GzipInflater(input) : try LibraryDecoder(input, compression)
        try readHead()
        if isLarge, let reading = DecodeAhead(source) { source = reading }
    }

    deinit { head.deallocate() }

    /// What the content begins with.
    var contentHead: UnsafeRawBufferPointer { UnsafeRawBufferPointer(head) }

    /// Which archive is inside; nil where it is one file. A tar without entries looks like a file of zeros: only there
    /// the name of the compressed file decides.
    func container(named name: [UInt8]) -> ArchiveFormat.Container? {
        switch ArchiveFormat.of(head: UnsafeRawBufferPointer(head)) {
        case .container(.tar): .tar
        case .container(.cpio): .cpio
        default: mayBeEmptyTar && UnpackedName.of(name).hasTarEnding ? .tar : nil
        }
    }

    /// The blocks of zeros that end every tar, and nothing else.
    private var mayBeEmptyTar: Bool {
        head.count >= 1024 && head.count <= Self.longestEmptyTar && head.count % 512 == 0 && head.allSatisfy { $0 == 0 }
    }

    /// Reads on until there is enough to tell; a stream that may be a tar without entries is read as far as one goes.
    private func readHead() throws(ArchiveError) {
        var bytes: [UInt8] = []
        while bytes.count < Self.headLength || (bytes.count <= Self.longestEmptyTar && bytes.allSatisfy { $0 == 0 }) {
            guard let block = try source.next() else { break }
            bytes += block
        }
        head = .allocate(byteCount: bytes.count, alignment: 16)
        head.copyBytes(from: bytes)
    }

    /// The next block, valid until the next call; nil at the end.
    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        if let failure { throw failure }
        do throws(ArchiveError) {
            // A little that is read may give much, and a reader may pass over all of it.
            try budget.checkStopped()
            // Now: the next block may lie where the last one did.
            tail = Array((tail + last.suffix(Self.tailLength)).suffix(Self.tailLength))
            last = UnsafeRawBufferPointer(start: nil, count: 0)
            guard let block = try takeNext() else { return nil }
            last = block
            given += Int64(block.count)
            return block
        } catch {
            failure = error
            throw error
        }
    }

    /// So many bytes from a place, as far as there are; none where they were compressed.
    func bytes(_ count: Int, at place: Int64) throws(ArchiveError) -> [UInt8] {
        try plain?.read(count, at: place) ?? []
    }

    private func takeNext() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        if isHeadPending {
            isHeadPending = false
            if head.count > 0 { return UnsafeRawBufferPointer(head) }
        }
        return try source.next()
    }

    /// Reads what is left, so that a stream that is cut or wrong after the archive's last entry does not pass. From the
    /// place on nothing but zeros may follow: what an archive's reader leaves unread would be lost without a word, such
    /// as the second of two archives that were put together.
    func drainZeros(from place: Int64) throws(ArchiveError) {
        let early = Int(min(max(0, given - place - Int64(last.count)), Int64(tail.count)))
        if let junk = tail.suffix(early).firstIndex(where: { $0 != 0 }) {
            throw trailing(from: given - Int64(last.count) - Int64(tail.endIndex - junk))
        }
        let unread = Int(min(max(0, given - place), Int64(last.count)))
        var block: UnsafeRawBufferPointer? = UnsafeRawBufferPointer(rebasing: last.suffix(unread))
        while let rest = block {
            if let junk = rest.firstNonzero { throw trailing(from: given - Int64(rest.count - junk)) }
            block = try next()
        }
    }

    /// How much it is shows where it is not compressed.
    private func trailing(from place: Int64) -> ArchiveError { .trailing(plain.map { $0.size - place }) }

    /// So many bytes before a place that a reader has come to; fewer where they are not at hand.
    func bytes(_ count: Int, before place: Int64) -> ArraySlice<UInt8> {
        let end = last.count - Int(clamping: max(0, given - place))
        guard end >= 0 else { return tail.dropLast(-end).suffix(count) }
        let part = last[max(0, end - count)..<end]
        return tail.suffix(count - part.count) + part
    }
}

extension UnsafeRawBufferPointer {
    /// Where something else than zeros begins.
    var firstNonzero: Int? {
        var index = 0
        while index + 8 <= count, loadUnaligned(fromByteOffset: index, as: UInt64.self) == 0 { index += 8 }
        return self[index...].firstIndex { $0 != 0 }
    }
}

extension [UInt8] {
    /// Whether a name ends with `.tar`, in upper or lower case.
    fileprivate var hasTarEnding: Bool { suffix(4).map { $0 | 0x20 } == Array(".tar".utf8) }
}

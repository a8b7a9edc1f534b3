import CArchive
import Glibc
import SystemPackage

/// Reads an archive through libarchive: entry by entry, and the data of each block by block. Memory stays flat whatever
/// the archive's size.
///
/// Only the format that the file's own content says is enabled, and never an external program. Used on one thread.
struct ArchiveReader: ~Copyable {
    private let handle: ArchiveHandle
    private let source: Source
    private let container: ArchiveFormat.Container
    /// Whether a tar must end with its mark.
    private let requiresEnd: Bool
    /// Whether it is a volume of a tar that says so itself.
    private let isVolume: Bool
    private var entries: Int64 = 0
    private var current: [UInt8]?
    /// Those that may still come.
    private var tables = Self.tables
    /// The checksums of all entries, where the library does not compare each.
    private let checksums: [UInt32]?
    /// That of the current one's content.
    private(set) var checksum: UInt32?

    /// What the library reads from.
    private enum Source {
        case stream(ByteStream)
        case file(ArchiveInput)

        var failure: ArchiveError? {
            switch self {
            case .stream(let stream): stream.failure
            case .file(let input): input.failure
            }
        }
    }

    private init(
        handle: consuming ArchiveHandle, source: Source, container: ArchiveFormat.Container, requiresEnd: Bool = true,
        isVolume: Bool = false, checksums: [UInt32]? = nil
    ) {
        self.handle = handle
        self.requiresEnd = requiresEnd
        self.isVolume = isVolume
        self.source = source
        self.container = container
        self.checksums = checksums
    }

    static func open(
        _ stream: ByteStream, _ container: ArchiveFormat.Container, _ policy: UnpackPolicy
    ) throws(ArchiveError) -> ArchiveReader {
        let handle = try ArchiveHandle.make()
        try handle.enable(container)
        let label = try stream.bytes(512, at: 0)
        let client = Unmanaged.passUnretained(stream).toOpaque()
        let status = libarchive.archive_read_open(handle.pointer, client, nil, readFromStream, nil)
        if status != ARCHIVE_OK { throw stream.failure ?? handle.failure(entry: nil) }
        return ArchiveReader(
            handle: handle, source: .stream(stream), container: container, requiresEnd: policy.tarEnd == .required,
            isVolume: container == .tar && isVolume(label))
    }

    /// Whether a tar begins with a label such as GNU tar gives each volume of several: `BACKUP Volume 1`.
    private static func isVolume(_ header: [UInt8]) -> Bool {
        header.count == 512 && header[156] == UInt8(ascii: "V")
            && String(decoding: header[..<100].prefix { $0 != 0 }, as: UTF8.self).contains(" Volume ")
    }

    /// Opens an archive whose parts are read in an order of their own.
    static func open(
        _ input: ArchiveInput, _ container: ArchiveFormat.Container, _ policy: UnpackPolicy, passwords: [[UInt8]]
    ) throws(ArchiveError) -> ArchiveReader {
        // A cabinet says that another one comes before or after it.
        if container == .cab, let flags = Fields(try input.read(32, at: 0)).u16(30), flags & 3 != 0 { throw .part() }
        if container == .rar5 { try RarHeaders.refuseUnreadable(input) }
        let checksums = container == .rar ? try RarHeaders.checksums(input) : nil
        let handle = try ArchiveHandle.make()
        try handle.enable(container)
        if container == .zip { try handle.set(nameEncoding: policy.nameEncoding) }
        for password in passwords { try handle.add(password: password) }
        let client = Unmanaged.passUnretained(input).toOpaque()
        _ = libarchive.archive_read_set_read_callback(handle.pointer, readFromFile)
        _ = libarchive.archive_read_set_skip_callback(handle.pointer, skipInFile)
        _ = libarchive.archive_read_set_seek_callback(handle.pointer, seekInFile)
        _ = libarchive.archive_read_set_callback_data(handle.pointer, client)
        if libarchive.archive_read_open1(handle.pointer) != ARCHIVE_OK {
            throw input.failure ?? handle.failure(entry: nil)
        }
        return ArchiveReader(handle: handle, source: .file(input), container: container, checksums: checksums)
    }

    /// What GNU's programs put before the members of an ar, each once: the index of a library and a table of long names
    /// (ar(5)), as the bytes that a header has for a name. A member may come to such a name by a roundabout way too, as
    /// long names do, and is not a table then.
    private static let tables = Set(
        ["/", "//", "/SYM64/"].map { Array($0.utf8) + [UInt8](repeating: 0x20, count: 16 - $0.utf8.count) })

    /// Whether it is of a format that programs can append to.
    var isStream: Bool { container.isStream }

    /// The next entry; nil after the last one, once it is sure that the archive is whole and not empty.
    mutating func next() throws(ArchiveError) -> ArchiveEntry? {
        while true {
            if current != nil { try attributing { (handle) throws(ArchiveError) in try handle.skipData(of: current) } }
            let place = handle.position
            guard let entry = try nextMember() else {
                try checkEnd(after: place)
                return nil
            }
            current = entry.path
            if try isTable(entry, at: place) { continue }
            if isContinued(since: place) { throw .part(entry.path) }
            entries += 1
            if let checksums {
                guard entries <= checksums.count else { throw Self.miscounted }
                checksum = checksums[Int(entries) - 1]
            }
            return entry
        }
    }

    /// Whether a member, whose header lies at that place, is one of an ar's own tables; it counts all the same.
    private mutating func isTable(_ entry: ArchiveEntry, at place: Int64) throws(ArchiveError) -> Bool {
        guard container == .ar, entries == 0, case .stream(let stream) = source else { return false }
        // The first header lies behind the mark of an ar.
        let name = try stream.bytes(16, at: max(8, place))
        guard tables.remove(name) != nil else { return false }
        try stream.budget.beginUnlisted(for: entry.path)
        return true
    }

    private static var miscounted: ArchiveError { .damaged(nil, detail: "the headers' entry count is wrong") }

    /// Whether a tar's member began in another volume: it has a type of its own (GNU tar), or a header before the first
    /// one says so (pax). The library takes what there is of it for all.
    private func isContinued(since place: Int64) -> Bool {
        guard container == .tar, case .stream(let stream) = source else { return false }
        let position = handle.position
        let header = Array(stream.bytes(512, before: position))
        if header.count == 512, header[156] == UInt8(ascii: "M") {
            return header.withUnsafeBytes { ArchiveFormat.isTarHeader($0) }
        }
        guard entries == 0, position - place > 512 else { return false }
        let said = Array(stream.bytes(Int(min(position - place, 8192)), before: position))
        return String(decoding: said, as: UTF8.self).contains("GNU.volume.offset=")
    }

    private func nextMember() throws(ArchiveError) -> ArchiveEntry? {
        try EntryNames.asUTF8 { () throws(ArchiveError) -> ArchiveEntry? in
            try attributing { (handle) throws(ArchiveError) -> ArchiveEntry? in
                guard let header = try handle.nextHeader() else { return nil }
                guard let entry = ArchiveEntry(header) else {
                    throw ArchiveError.damaged(
                        current, "is followed by one whose name cannot be read", detail: handle.message)
                }
                return entry
            }
        }
    }

    /// The next block of the current entry's data.
    func nextBlock() throws(ArchiveError) -> ArchiveHandle.Block {
        let block = try attributing { (handle) throws(ArchiveError) in try handle.nextBlock(of: current) }
        // Only in tar can a hole end a file; other formats leave any number there.
        if case .end = block, container != .tar { return .end(offset: 0) }
        return block
    }

    /// A tar that was cut between two entries looks complete to the library: only the two empty blocks that end it
    /// tell. And behind them it would not look.
    private func checkEnd(after end: Int64) throws(ArchiveError) {
        let position = handle.position
        // Headers without an entry may lie before it, so its length alone says nothing.
        if container == .tar, requiresEnd, case .stream(let stream) = source {
            let mark = stream.bytes(1024, before: position)
            guard position - end >= 1024, mark.count == 1024, mark.allSatisfy({ $0 == 0 }) else {
                throw isVolume ? .part() : .early("the end mark is missing")
            }
        }
        if let checksums, checksums.count != entries { throw Self.miscounted }
        if entries == 0 { throw .empty }
        guard case .stream(let stream) = source else { return }
        try stream.drainZeros(from: position)
    }

    /// What stopped the source below is the cause of what the reader above says.
    private func attributing<Result>(
        _ body: (borrowing ArchiveHandle) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        do throws(ArchiveError) {
            return try body(handle)
        } catch {
            if isVolume, case .bad(let problem) = error, problem.code == .damaged { throw .part(current) }
            throw source.failure ?? error
        }
    }
}

/// Hands libarchive the next block of the stream that it was opened on.
private func readFromStream(
    _: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let client, let buffer else { return -1 }
    return give(Unmanaged<ByteStream>.fromOpaque(client).takeUnretainedValue().next, to: buffer)
}

private func readFromFile(
    _: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> la_ssize_t {
    guard let client, let buffer else { return -1 }
    return give(Unmanaged<ArchiveInput>.fromOpaque(client).takeUnretainedValue().next, to: buffer)
}

private func give(
    _ next: () throws(ArchiveError) -> UnsafeRawBufferPointer?, to buffer: UnsafeMutablePointer<UnsafeRawPointer?>
) -> la_ssize_t {
    do throws(ArchiveError) {
        guard let block = try next() else { return 0 }
        buffer.pointee = block.baseAddress
        return block.count
    } catch {
        return -1
    }
}

private func skipInFile(_: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ count: la_int64_t) -> la_int64_t {
    guard let client else { return -1 }
    let input = Unmanaged<ArchiveInput>.fromOpaque(client).takeUnretainedValue()
    // As far as there is a file; what is missing shows when it is read.
    let place = input.position
    let target = min(input.size, place.addingReportingOverflow(max(0, count)).partialValue)
    return target >= place ? (input.seek(to: target) ?? place) - place : 0
}

private func seekInFile(
    _: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ offset: la_int64_t, _ whence: Int32
) -> la_int64_t {
    guard let client else { return la_int64_t(ARCHIVE_FATAL) }
    let input = Unmanaged<ArchiveInput>.fromOpaque(client).takeUnretainedValue()
    let base: Int64 = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? input.position : input.size
    let (place, overflow) = base.addingReportingOverflow(offset)
    return overflow ? la_int64_t(ARCHIVE_FATAL) : input.seek(to: place) ?? la_int64_t(ARCHIVE_FATAL)
}

import CArchive
import Glibc
import SystemPackage

/// Owns one reading `struct archive` of libarchive and turns its status codes into errors.
///
/// The library's own word on what may be ignored is not taken: its `ARCHIVE_WARN` covers a wrong checksum, and its
/// `ARCHIVE_RETRY` has bsdtar skip what is damaged. Everything but OK and EOF is an error here.
struct ArchiveHandle: ~Copyable {
    let pointer: OpaquePointer

    /// The largest window in MiB that zstd takes without being told (ZSTD_WINDOWLOG_LIMIT_DEFAULT).
    private static let window = 128

    private init(pointer: OpaquePointer) { self.pointer = pointer }

    deinit { _ = libarchive.archive_read_free(pointer) }

    static func make() throws(ArchiveError) -> ArchiveHandle {
        // Helpers have asked before they began.
        if let problem = ArchiveLibrary.shared.problem {
            throw .unsupported(nil, "needs libarchive", detail: problem)
        }
        guard let pointer = libarchive.archive_read_new() else {
            throw .system(action: "read", entry: nil, errno: .noMemory)
        }
        return ArchiveHandle(pointer: pointer)
    }

    /// Makes the reader know one format, and no other.
    func enable(_ container: ArchiveFormat.Container) throws(ArchiveError) {
        let status =
            switch container {
            // The directory at the end is the one that counts; a zip without it is not whole.
            case .zip: libarchive.archive_read_support_format_zip_seekable(pointer)
            case .sevenZip: libarchive.archive_read_support_format_7zip(pointer)
            case .rar: libarchive.archive_read_support_format_rar(pointer)
            case .rar5: libarchive.archive_read_support_format_rar5(pointer)
            case .tar: libarchive.archive_read_support_format_tar(pointer)
            case .cpio: libarchive.archive_read_support_format_cpio(pointer)
            case .ar: libarchive.archive_read_support_format_ar(pointer)
            case .iso: libarchive.archive_read_support_format_iso9660(pointer)
            case .cab: libarchive.archive_read_support_format_cab(pointer)
            case .xar: libarchive.archive_read_support_format_xar(pointer)
            case .lha: libarchive.archive_read_support_format_lha(pointer)
            case .rpm: enableRPM()
            }
        try require(status, container.rawValue)
    }

    /// An rpm is a header, then a compressed cpio.
    private func enableRPM() -> Int32 {
        let filters = [
            libarchive.archive_read_support_filter_rpm(pointer), libarchive.archive_read_support_filter_gzip(pointer),
            libarchive.archive_read_support_filter_bzip2(pointer), libarchive.archive_read_support_filter_xz(pointer),
            libarchive.archive_read_support_filter_lzma(pointer), libarchive.archive_read_support_filter_zstd(pointer),
        ]
        return filters.min() == ARCHIVE_OK ? libarchive.archive_read_support_format_cpio(pointer) : ARCHIVE_WARN
    }

    /// Makes the reader undo one compression and give what comes out as it is.
    func enable(_ compression: ArchiveFormat.Compression) throws(ArchiveError) {
        // Appended, not offered: a bidding reader would go on to undo what it finds inside, as often as the sender
        // likes.
        let status =
            switch compression {
            // Not used: see GzipInflater.
            case .gzip: ARCHIVE_FAILED
            case .bzip2: libarchive.archive_read_append_filter(pointer, ARCHIVE_FILTER_BZIP2)
            case .xz: libarchive.archive_read_append_filter(pointer, ARCHIVE_FILTER_XZ)
            case .zstd: libarchive.archive_read_append_filter(pointer, ARCHIVE_FILTER_ZSTD)
            case .lz4: libarchive.archive_read_append_filter(pointer, ARCHIVE_FILTER_LZ4)
            case .lzma: libarchive.archive_read_append_filter(pointer, ARCHIVE_FILTER_LZMA)
            case .lzip: libarchive.archive_read_append_filter(pointer, ARCHIVE_FILTER_LZIP)
            // This one reads when it is appended, before there is anything to read from, and crashes.
            case .compress: libarchive.archive_read_support_filter_compress(pointer)
            }
        try require(status, compression.rawValue)
        // Set, not offered: in the bidding a stream that breaks off in its first block passes for an empty one.
        try require(libarchive.archive_read_set_format(pointer, ARCHIVE_FORMAT_RAW), compression.rawValue)
    }

    /// Has names of a zip that are not marked as UTF-8 taken for another character set.
    func set(nameEncoding encoding: UnpackPolicy.NameEncoding) throws(ArchiveError) {
        guard let charset = encoding.charset else { return }
        try require(libarchive.archive_read_set_format_option(pointer, "zip", "hdrcharset", charset), "zip")
    }

    /// Adds a password to be tried.
    func add(password: [UInt8]) throws(ArchiveError) {
        let terminated = password.map { CChar(bitPattern: $0) } + [0]
        guard libarchive.archive_read_add_passphrase(pointer, terminated) == ARCHIVE_OK else {
            throw .system(action: "read", entry: nil, errno: .noMemory)
        }
    }

    /// The library answers with a warning where it would start an external program.
    private func require(_ status: Int32, _ name: String) throws(ArchiveError) {
        guard status == ARCHIVE_OK else {
            throw .unsupported(nil, "is \(name), which this machine's libarchive cannot read", detail: message)
        }
    }

    /// The next header; nil after the last.
    func nextHeader() throws(ArchiveError) -> OpaquePointer? {
        var entry: OpaquePointer?
        let status = libarchive.archive_read_next_header(pointer, &entry)
        switch status {
        case ARCHIVE_OK: return entry
        case ARCHIVE_EOF: return nil
        // A name that is not in the character set it claims to be in is given as the bytes that it is.
        case ARCHIVE_WARN where message.contains("be converted from"): return entry
        default: throw failure(entry: nil)
        }
    }

    /// One block of an entry's data and where it belongs, or its end.
    enum Block {
        case data(UnsafeRawBufferPointer, offset: Int64)
        case end(offset: Int64)
    }

    /// The next block of the current entry; valid until the next call.
    func nextBlock(of entry: [UInt8]?) throws(ArchiveError) -> Block {
        var buffer: UnsafeRawPointer?
        var size = 0
        var offset: la_int64_t = 0
        switch libarchive.archive_read_data_block(pointer, &buffer, &size, &offset) {
        case ARCHIVE_OK: return .data(UnsafeRawBufferPointer(start: buffer, count: size), offset: offset)
        case ARCHIVE_EOF: return .end(offset: offset)
        default: throw failure(entry: entry)
        }
    }

    /// Passes over what is left of the current entry, its padding included.
    func skipData(of entry: [UInt8]?) throws(ArchiveError) {
        guard libarchive.archive_read_data_skip(pointer) == ARCHIVE_OK else { throw failure(entry: entry) }
    }

    /// How far the format has read, in bytes after decompression.
    var position: Int64 { libarchive.archive_filter_bytes(pointer, 0) }

    /// How many bytes of the file it has taken.
    var consumed: Int64 { libarchive.archive_filter_bytes(pointer, -1) }

    /// How many compressions it undoes; the last in its list undoes none.
    var layers: Int { Int(libarchive.archive_filter_count(pointer)) - 1 }

    /// What the library said last.
    var message: String { libarchive.archive_error_string(pointer).map { String(cString: $0) } ?? "" }

    /// The error behind a status that is not OK. What an encrypted archive fails by may as well be damage, so that
    /// alone says nothing.
    func failure(entry: [UInt8]?) -> ArchiveError {
        let message = message
        func says(_ words: String...) -> Bool { words.contains { message.contains($0) } }
        if says("ncrypt", "Crypto codec", "assphrase") { return .encrypted(entry) }
        let errno = Errno(rawValue: libarchive.archive_errno(pointer))
        if message.hasPrefix("Error reading") || errno.isOfConfinement {
            return .system(action: "read", entry: nil, errno: errno)
        }
        if says("be converted from") {
            return .unsupported(entry, "has a name in an unknown character set", detail: message)
        }
        if errno == .noMemory {
            return .unsupported(entry, "needs more memory to unpack than is available", detail: message)
        }
        if says("ultivolume", "multi-volume") { return .part(entry) }
        if says("requires too much memory for decoding") {
            return .unsupported(
                entry, "needs a larger decompression window than \(Self.window) MiB, the limit",
                remedy:
                    "Pack it with a window of \(Self.window) MiB at most: zstd without --ultra and --long=28 or more.",
                detail: message)
        }
        if says("Dictionary mismatch") {
            return .unsupported(
                entry, "was packed with a dictionary, which is not available",
                remedy: "Pack it without one (zstd without -D).", detail: message)
        }
        if says(
            "nsupported", "not supported", "unavailable", "Unknown codec", "Unexpected codec", "Invalid options",
            "Version not")
        {
            return .unsupported(entry, "uses a compression or feature that is not supported", detail: message)
        }
        if says("runcated", "end of file", "No progress is possible") {
            return entry.map { .damaged($0, "ends too early", detail: message) } ?? .early(detail: message)
        }
        return .damaged(entry, detail: message)
    }
}

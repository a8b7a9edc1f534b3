import CArchive
import Glibc
package import SystemPackage

/// Writes an archive or a compressed file through libarchive, to a descriptor that stays its owner's.
///
/// What it writes depends on what it is given and on nothing else: no owner, no time of its own.
package struct ArchiveWriter: ~Copyable {
    /// What is written.
    package enum Format: String, Sendable, CaseIterable {
        case zip
        case tarZstd = "tar.zst"
        case tarGzip = "tar.gz"
        case tarXZ = "tar.xz"
        case sevenZip = "7z"
        /// One file, compressed.
        case zstd = "zst"
        /// One file, compressed.
        case gzip = "gz"

        /// Whether it holds one file alone, without its name.
        package var isBare: Bool { self == .zstd || self == .gzip }
    }

    /// One entry's metadata.
    package struct Entry: Sendable {
        /// Its path, without a `/` at either end.
        package var path: [UInt8]
        /// Type and rights (`st_mode`).
        package var mode: UInt32
        /// Bytes; 0 for what is not a file.
        package var size: Int64
        /// When it was last changed, in seconds since 1970.
        package var modified: Int?
        /// For a symbolic link: what it says.
        package var target: [UInt8]?

        package init(path: [UInt8], mode: UInt32, size: Int64, modified: Int?, target: [UInt8]? = nil) {
            self.path = path
            self.mode = mode
            self.size = size
            self.modified = modified
            self.target = target
        }
    }

    /// Why it could not be written.
    package enum Failure: Error, Sendable, Equatable {
        /// The kernel's word: the disk is full, for instance.
        case system(Errno)
        /// The format cannot hold it: libarchive's words.
        case impossible(String)
        /// Reading an entry's content failed, or was stopped.
        case content(Errno)
        /// The kernel's word of what is kept in `temporaryFolder` meanwhile.
        case temporary(Errno)
    }

    /// Where libarchive keeps the content of a 7z until all of it is there, in a file without a name: as the process's
    /// environment says, which no single archive can change.
    package static var temporaryFolder: FilePath { FilePath(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") }

    /// Why none can be written: libarchive cannot be loaded. Asked before `open`.
    package static var problem: String? { ArchiveLibrary.shared.problem }

    private let archive: OpaquePointer
    private let isSevenZip: Bool
    private let locale: locale_t?
    private let formerLocale: locale_t?

    private init(archive: OpaquePointer, isSevenZip: Bool, isUTF8: Bool) {
        self.archive = archive
        self.isSevenZip = isSevenZip
        // libarchive asks the thread's locale what bytes mean, and says so in the archive.
        guard isUTF8 else {
            locale = nil
            formerLocale = nil
            return
        }
        locale = newlocale(Self.characterTypes, "C.UTF-8", nil)
        formerLocale = locale.flatMap { uselocale($0) }
    }

    deinit {
        _ = libarchive.archive_write_free(archive)
        if let formerLocale { uselocale(formerLocale) }
        if let locale { freelocale(locale) }
    }

    /// LC_CTYPE_MASK, which is a macro.
    private static let characterTypes: Int32 = 1 << LC_CTYPE

    /// A writer. `level`: of the compression, as its own tools count; nil: their default. `isUTF8`: whether all names
    /// are; else they are written as the bytes they are. It is used up by the thread that makes it.
    package static func open(
        _ descriptor: Int32, _ format: Format, level: Int?, isUTF8: Bool
    ) throws(Failure) -> ArchiveWriter {
        guard let archive = libarchive.archive_write_new() else { throw .system(.noMemory) }
        let writer = ArchiveWriter(archive: archive, isSevenZip: format == .sevenZip, isUTF8: isUTF8)
        switch format {
        case .zip: try writer.check(libarchive.archive_write_set_format_zip(archive))
        case .sevenZip: try writer.check(libarchive.archive_write_set_format_7zip(archive))
        case .tarZstd, .tarGzip, .tarXZ:
            try writer.check(libarchive.archive_write_set_format_pax_restricted(archive))
            if !isUTF8 { try writer.check(libarchive.archive_write_set_options(archive, "hdrcharset=BINARY")) }
        case .zstd, .gzip: try writer.check(libarchive.archive_write_set_format_raw(archive))
        }
        switch format {
        case .tarZstd, .zstd: try writer.check(libarchive.archive_write_add_filter_zstd(archive))
        case .tarXZ: try writer.check(libarchive.archive_write_add_filter_xz(archive))
        case .tarGzip, .gzip:
            try writer.check(libarchive.archive_write_add_filter_gzip(archive))
            // The time of writing has no place in what is to be the same each time.
            try writer.check(libarchive.archive_write_set_filter_option(archive, "gzip", "timestamp", nil))
        case .zip, .sevenZip: break
        }
        if let level { try writer.check(libarchive.archive_write_set_options(archive, "compression-level=\(level)")) }
        _ = libarchive.archive_write_set_bytes_in_last_block(archive, 1)
        try writer.check(libarchive.archive_write_open_fd(archive, descriptor))
        return writer
    }

    /// Adds an entry. `content` is called for a file's bytes until it has given as many as the entry says.
    package func add(
        _ entry: Entry, content: (UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    ) throws(Failure) {
        guard let header = libarchive.archive_entry_new() else { throw .system(.noMemory) }
        defer { libarchive.archive_entry_free(header) }
        libarchive.archive_entry_set_pathname(header, entry.path.map { CChar(bitPattern: $0) } + [0])
        libarchive.archive_entry_set_mode(header, mode_t(entry.mode))
        if let modified = entry.modified { libarchive.archive_entry_set_mtime(header, modified, 0) }
        if let target = entry.target {
            libarchive.archive_entry_set_symlink(header, target.map { CChar(bitPattern: $0) } + [0])
        }
        libarchive.archive_entry_set_size(header, entry.size)
        try checkAdding(libarchive.archive_write_header(archive, header))
        var rest = entry.size
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while rest > 0 {
            let wanted = min(Int(rest), buffer.count)
            let count: Int
            do throws(Errno) {
                count = try content(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
            } catch {
                throw .content(error)
            }
            // A file that got shorter is not the file that was announced.
            guard count > 0 else { throw .content(.ioError) }
            let written = libarchive.archive_write_data(archive, buffer.baseAddress, count)
            guard written == count else { throw addingProblem }
            rest -= Int64(count)
        }
        try checkAdding(libarchive.archive_write_finish_entry(archive))
    }

    /// Writes what is still to be written.
    package consuming func finish() throws(Failure) {
        try check(libarchive.archive_write_close(archive))
    }

    private func check(_ status: Int32) throws(Failure) {
        if status != ARCHIVE_OK { throw problem }
    }

    private func checkAdding(_ status: Int32) throws(Failure) {
        if status != ARCHIVE_OK { throw addingProblem }
    }

    /// The same while entries are added: then a 7z is written to its temporary file alone.
    private var addingProblem: Failure {
        let errno = Errno(rawValue: libarchive.archive_errno(archive))
        let ofTheFolder: [Errno] = [
            .noSpace, .diskQuotaExceeded, .fileTooLarge, .ioError, .readOnlyFileSystem, .noSuchFileOrDirectory,
            .notDirectory, .permissionDenied, .notPermitted,
        ]
        return isSevenZip && ofTheFolder.contains(errno) ? .temporary(errno) : problem
    }

    /// What went wrong last. libarchive tells system errors by their own numbers, and some of its own by negative ones.
    private var problem: Failure {
        let number = libarchive.archive_errno(archive)
        let words = libarchive.archive_error_string(archive).map { String(cString: $0) } ?? "no reason given"
        let errno = Errno(rawValue: number)
        let ofTheSystem: [Errno] = [
            .noSpace, .diskQuotaExceeded, .ioError, .readOnlyFileSystem, .noMemory, .fileTooLarge, .badFileDescriptor,
        ]
        return ofTheSystem.contains(errno) ? .system(errno) : .impossible(words)
    }
}

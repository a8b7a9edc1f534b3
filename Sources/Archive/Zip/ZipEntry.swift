import Glibc

/// One entry of a zip's directory (APPNOTE 4.3.12).
struct ZipEntry {
    enum Kind: Equatable {
        case file, folder, symbolicLink
        /// With the word for it.
        case special(String)
    }

    struct Method: Equatable {
        let number: UInt16

        static let stored = Method(number: 0)
        static let deflate = Method(number: 8)
        static let aes = Method(number: 99)

        /// Whether it is unpacked here, and not by libarchive.
        var isOwn: Bool { self == .stored || self == .deflate }

        /// What people call it (APPNOTE 4.4.5).
        var name: String {
            switch number {
            case 0: "stored"
            case 1: "shrink"
            case 2...5: "reduce"
            case 6: "implode"
            case 8: "deflate"
            case 9: "deflate64"
            case 10: "PKWARE implode"
            case 12: "bzip2"
            case 14: "lzma"
            case 20, 93: "zstd"
            case 94: "mp3"
            case 95: "xz"
            case 97: "wavpack"
            case 98: "ppmd"
            case 99: "AES"
            default: "method \(number)"
            }
        }

        /// What to do where it cannot be read.
        fileprivate var remedy: String {
            self == Method(number: 9)
                ? "Windows packs files of more than 2 GiB this way: use another program, and 7z or zip with "
                    + "deflate."
                : "Use a common format: zip with deflate, or tar with gzip, xz or zstd."
        }

        /// Whether libarchive can read it.
        var isKnown: Bool { [0, 8, 12, 14, 93, 95, 98, 99].contains(number) }
    }

    /// The name in the character set that it was stored in.
    let storedName: [UInt8]
    let name: [UInt8]
    let method: Method
    let flags: UInt16
    let checksum: UInt32
    private(set) var compressedSize: UInt64
    private(set) var size: UInt64
    /// Where its local header begins.
    private(set) var offset: UInt64
    let kind: Kind
    /// All of its mode bits but the type; 0 where the archive knows none.
    let mode: mode_t
    let modified: timespec?
    /// Where the next entry begins.
    var limit: UInt64 = 0

    var isEncrypted: Bool { flags & 1 != 0 }
    /// Whether its name says that it is UTF-8.
    var isMarkedUTF8: Bool { flags & 0x800 != 0 }
    /// Whether libarchive must read it.
    var isByLibrary: Bool { isEncrypted || !method.isOwn }
    /// Whether sizes and checksum follow the data.
    var hasDescriptor: Bool { flags & 8 != 0 }

    /// The length of a header (its first 30 bytes) that stands for no entry: without a name, content or checksum, also
    /// none that would follow, it fills up room. Nil for any other.
    static func padding(_ header: Fields) -> UInt64? {
        guard header.u16(6).map({ $0 & 8 }) == 0, header.u32(14) == 0, header.u32(18) == 0, header.u32(22) == 0,
            header.u16(26) == 0,
            let extra = header.u16(28)
        else { return nil }
        return 30 + UInt64(extra)
    }

    /// Reads the record at the place and steps over it.
    init(_ bytes: [UInt8], _ place: inout Int, _ encoding: UnpackPolicy.NameEncoding) throws(ArchiveError) {
        let start = place
        guard bytes.count - start >= 46, bytes[start] == 0x50, bytes[start + 1] == 0x4B, bytes[start + 2] == 1,
            bytes[start + 3] == 2
        else { throw .damaged(nil, detail: "the directory is damaged") }
        func u16(_ offset: Int) -> UInt16 { UInt16(bytes[start + offset]) | UInt16(bytes[start + offset + 1]) << 8 }
        func u32(_ offset: Int) -> UInt32 { UInt32(u16(offset)) | UInt32(u16(offset + 2)) << 16 }
        let nameEnd = start + 46 + Int(u16(28))
        let extraEnd = nameEnd + Int(u16(30))
        place = extraEnd + Int(u16(32))
        guard place <= bytes.count else { throw .damaged(nil, detail: "the directory is damaged") }
        storedName = Array(bytes[(start + 46)..<nameEnd])
        flags = u16(8)
        method = Method(number: u16(10))
        checksum = u32(16)
        compressedSize = UInt64(u32(20))
        size = UInt64(u32(24))
        offset = UInt64(u32(42))
        let stored = storedName
        let read = bytes.withUnsafeBytes { ZipExtra(UnsafeRawBufferPointer(rebasing: $0[nameEnd..<extraEnd])) }
        guard let extra = read else { throw .damaged(stored, "has an extra field longer than its header") }
        let isMarked = flags & 0x800 != 0
        if !isMarked, let unicode = extra.name(for: stored) {
            name = unicode
        } else if isMarked || storedName.allSatisfy({ $0 < 0x80 }) {
            name = storedName
        } else {
            guard let converted = encoding.utf8(storedName) else {
                throw .unsafe(
                    storedName, "has a name invalid in the character set '\(encoding.rawValue)' (name_encoding)")
            }
            name = converted
        }
        if name.contains(UInt8(ascii: "\\")) {
            throw .unsafe(name, "has a backslash in its name, which some systems treat as a path separator")
        }
        let attributes = u32(38)
        // Made by Unix or macOS: mode and type stand in the upper half.
        let isUnix = [3, 19].contains(bytes[start + 5])
        let unixMode = isUnix ? mode_t(attributes >> 16) : 0
        mode = unixMode & 0o7777
        let isFolder = name.last == UInt8(ascii: "/") || (!isUnix && attributes & 0x10 != 0)
        var wide = WideFields(size: size, compressedSize: compressedSize, offset: offset)
        if let fields = extra.wide { wide.read(fields) }
        (size, compressedSize, offset) = (wide.size, wide.compressedSize, wide.offset)
        let type = unixMode & S_IFMT
        // What was packed out of a pipe is a file by now.
        kind = Self.kind(type == S_IFIFO && size > 0 && !isFolder ? S_IFREG : type, isFolder: isFolder)
        guard size <= UInt64(Int64.max), compressedSize <= UInt64(Int64.max) else { throw .damaged(name) }
        modified = extra.seconds.map { timespec(tv_sec: Int($0), tv_nsec: 0) } ?? Self.time(dos: u32(12))
        guard method.isKnown else {
            throw .unsupported(
                name, "is compressed with '\(method.name)', which is not supported", remedy: method.remedy)
        }
        if case .folder = kind, size > 0 { throw .damaged(name, "is a folder with content") }
    }

    /// Whether libarchive sees the same: its name, but for the `/` that it puts behind a folder's, its type and size.
    func isSame(as other: ArchiveEntry) -> Bool {
        let slash = UInt8(ascii: "/")
        func trimmed(_ name: [UInt8]) -> ArraySlice<UInt8> { name.last == slash ? name.dropLast() : name[...] }
        guard [trimmed(name), trimmed(storedName)].contains(trimmed(other.path)) else { return false }
        switch (kind, other.kind) {
        case (.folder, .folder), (.symbolicLink, .symbolicLink), (.special, .special): return true
        case (.file, .file): return other.size.map { $0 == Int64(size) } ?? true
        default: return false
        }
    }

    private static func kind(_ type: mode_t, isFolder: Bool) -> Kind {
        switch type {
        case S_IFLNK: .symbolicLink
        case S_IFDIR: .folder
        case S_IFIFO: .special("a named pipe")
        case S_IFSOCK: .special("a socket")
        case S_IFCHR, S_IFBLK: .special("a device")
        case 0, S_IFREG: isFolder ? .folder : .file
        default: .special("of an unknown type")
        }
    }

    /// MS-DOS keeps the local time, in steps of two seconds.
    private static func time(dos value: UInt32) -> timespec? {
        var parts = tm()
        parts.tm_sec = Int32(value & 0x1F) * 2
        parts.tm_min = Int32(value >> 5 & 0x3F)
        parts.tm_hour = Int32(value >> 11 & 0x1F)
        parts.tm_mday = Int32(value >> 16 & 0x1F)
        parts.tm_mon = Int32(value >> 21 & 0x0F) - 1
        parts.tm_year = Int32(value >> 25) + 80
        parts.tm_isdst = -1
        let seconds = mktime(&parts)
        return seconds == -1 ? nil : timespec(tv_sec: seconds, tv_nsec: 0)
    }
}

/// Values that did not fit into 32 bits: they come in this order, each only where its place says so (APPNOTE 4.5.3).
private struct WideFields {
    var size: UInt64
    var compressedSize: UInt64
    var offset: UInt64

    mutating func read(_ fields: Fields) {
        var place = 0
        func replace(_ value: inout UInt64) {
            guard value == UInt64(UInt32.max), let wide = fields.u64(place) else { return }
            value = wide
            place += 8
        }
        replace(&size)
        replace(&compressedSize)
        replace(&offset)
    }
}

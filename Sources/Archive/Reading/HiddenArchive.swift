import Glibc
import SystemPackage

/// What a file is that begins like no archive, as far as that matters to somebody who waits for one.
enum HiddenArchive: Sendable, Equatable {
    /// Holds nothing.
    case empty
    /// What came in the place of a file, in words: a web page.
    case text(String)
    /// A program that unpacks what it holds.
    case program(ArchiveFormat)
    /// An archive behind so many bytes of something else.
    case behind(ArchiveFormat, Int64)
    /// Anything else.
    case other

    /// How far an archive is looked for behind a program, whose own code comes first.
    private static let programSize = 1 << 20
    /// The record that ends a zip, and with the longest comment.
    private static let recordSize = 22
    private static let longestRecord = 22 + Int(UInt16.max)

    /// Looks at a file, of which this is the beginning. `isWhole`: all of it. Besides there is one small read of the
    /// end, and more only for programs.
    init(_ head: UnsafeRawBufferPointer, isWhole: Bool, of descriptor: Int32) throws(Errno) {
        self = .other
        if head.isEmpty {
            self = .empty
        } else if let text = Self.text(head) {
            self = .text(text)
        }
        guard self == .other, head.count >= Self.recordSize else { return }
        let isProgram = head.starts(with: "MZ".utf8) || head.starts(with: [0x7F, 0x45, 0x4C, 0x46])
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        let size = Int64(status.st_size)
        let tailSize = isProgram ? Self.longestRecord : Self.recordSize
        let tail = isWhole ? Array(head) : try Self.read(tailSize, at: max(0, size - Int64(tailSize)), of: descriptor)
        if let place = try Self.zip(endingIn: tail, of: size, descriptor) {
            self = isProgram ? .program(.container(.zip)) : .behind(.container(.zip), place)
        } else if isProgram {
            let code = isWhole ? Array(head) : try Self.read(Self.programSize, at: 0, of: descriptor)
            if let format = Self.format(in: code) { self = .program(format) }
        }
    }

    /// What servers answer with in the place of a file.
    private static func text(_ head: UnsafeRawBufferPointer) -> String? {
        let begin = head.drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }.prefix(16)
        let text = String(decoding: begin, as: UTF8.self).lowercased()
        if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") { return "a web page" }
        return text.hasPrefix("<?xml") ? "an XML text" : text.hasPrefix("{") ? "a JSON text" : nil
    }

    /// Where the first entry of a zip begins whose end is that of the file. Places in it count from the file's
    /// beginning, or from the zip's.
    private static func zip(endingIn tail: [UInt8], of size: Int64, _ descriptor: Int32) throws(Errno) -> Int64? {
        guard tail.count >= recordSize else { return nil }
        for index in stride(from: tail.count - recordSize, through: 0, by: -1) where tail[index] == 0x50 {
            let record = Fields(Array(tail[index..<(index + recordSize)]))
            guard record.u32(0) == 0x0605_4B50, let length = record.u32(12), let offset = record.u32(16),
                let comment = record.u16(20), index + recordSize + Int(comment) == tail.count
            else { continue }
            let directory = size - Int64(tail.count - index) - Int64(length)
            guard directory >= Int64(offset) else { continue }
            let first = Fields(try read(46, at: directory, of: descriptor))
            if first.u32(0) == 0x0201_4B50, let begin = first.u32(42) {
                return directory - Int64(offset) + Int64(begin)
            }
        }
        return nil
    }

    /// The archive behind a program's code. The marks alone are in every program that unpacks, so what follows counts.
    private static func format(in code: [UInt8]) -> ArchiveFormat? {
        for index in code.indices where code[index] == 0x37 || code[index] == 0x52 {
            let rest = code[index...].prefix(32)
            if rest.starts(with: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C, 0]), rest.count == 32 {
                // The header is followed by a checksum of how it goes on.
                let sum = Array(rest.suffix(20)).withUnsafeBytes { CRC32.of($0, after: 0) }
                if Fields(Array(rest)).u32(8) == sum { return .container(.sevenZip) }
            } else if rest.starts(with: [0x52, 0x61, 0x72, 0x21, 0x1A, 7, 0]), rest.dropFirst(9).first == 0x73 {
                return .container(.rar)
            } else if rest.starts(with: [0x52, 0x61, 0x72, 0x21, 0x1A, 7, 1, 0]), rest.dropFirst(13).first == 1 {
                return .container(.rar5)
            }
        }
        return nil
    }

    private static func read(_ count: Int, at place: Int64, of descriptor: Int32) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let got = pread(descriptor, &bytes, count, off_t(place))
            if got >= 0 { return Array(bytes.prefix(got)) }
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
    }
}

/// Why somebody may have waited for an archive's contents in vain.
package struct MissedArchive: Sendable, Equatable {
    /// The rest of a sentence whose subject is the file.
    package let fact: String
    /// What to do about it: a sentence.
    package let remedy: String

    /// Endings of names that promise an archive or a compressed file, also such as nobody unpacks here.
    private static let endings: Set<String> = [
        "zip", "zipx", "7z", "rar", "tar", "tgz", "taz", "tbz", "tbz2", "txz", "tzst", "tlz", "gz", "bz2", "xz", "zst",
        "lz4", "lzma", "lz", "z", "cpio", "cab", "iso", "lzh", "lha", "xar", "arj", "ace",
    ]

    /// What speaks for an archive in a file of that name that does not begin like one; nil where nothing does.
    package init?(_ name: [UInt8], _ sniff: ArchiveSniff) {
        guard let content = sniff.hidden else { return nil }
        let ending = Self.parts(name).last.flatMap { Self.endings.contains($0) ? $0 : nil }
        switch content {
        case .program(let format):
            fact = "is a program that holds a \(format.name), a self-extracting archive"
            remedy = "Send the archive alone."
        case .behind(let format, let count):
            fact = "has \(count) bytes before the \(format.name) that it holds"
            remedy = "Send the archive alone."
        case _ where Self.isPart(name):
            fact = "is one part of a split archive, going by its name"
            remedy = "Put the parts together and send the whole."
        case .empty:
            guard let ending else { return nil }
            fact = "is called \(ending), but is empty"
            remedy = "Send it again."
        case .text(let what):
            guard let ending else { return nil }
            fact = "is called \(ending), but is \(what)"
            remedy = "Look where it was fetched: that came in its place."
        case .other:
            guard let ending else { return nil }
            fact = "is called \(ending), but does not begin like any archive"
            remedy = "Send it again; if that does not help, make it anew."
        }
    }

    /// Whether a name is one that programs give to the parts of an archive: `x.7z.001`, `x.z01`, `x.part1.rar`,
    /// `x.r00`; also `x.001` where it is known to be one.
    package static func isPart(_ name: [UInt8], isArchive: Bool = false) -> Bool {
        let parts = parts(name)
        guard let last = parts.last else { return false }
        let above = parts.dropLast().last ?? ""
        if above.hasPrefix("part"), last == "rar", isNumber(above.dropFirst(4)) { return true }
        if last.count == 3, last.first == "z" || last.first == "r", isNumber(last.dropFirst()) { return true }
        return last.count >= 2 && isNumber(last) && (isArchive || endings.contains(above))
    }

    private static func isNumber(_ text: some Collection<Character>) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// What follows the first dot of the name's last component, in lower case.
    private static func parts(_ name: [UInt8]) -> [String] {
        let last = name.split(separator: UInt8(ascii: "/")).last ?? []
        return String(decoding: last, as: UTF8.self).lowercased().split(separator: ".").dropFirst().map(String.init)
    }
}

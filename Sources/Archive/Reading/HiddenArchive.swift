import Glibc
import SystemPackage

/// What a file is that begins like no archive, as far as that matters to those waiting for one.
enum HiddenArchive: Sendable, Equatable {
    case empty
    /// What came in the place of a file, in words: a web page.
    case text(String)
    /// A program that unpacks what it holds.
    case program(ArchiveFormat)
    /// An archive behind so many bytes of something else.
    case behind(ArchiveFormat, Int64)
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
        if let place = try isWhole
            ? Self.zip(endingIn: head, of: Int64(head.count), descriptor)
            : Self.zip(atEndOf: descriptor, within: isProgram ? Self.longestRecord : Self.recordSize)
        {
            self = isProgram ? .program(.container(.zip)) : .behind(.container(.zip), place)
        } else if isProgram {
            let code = isWhole ? Array(head) : try Self.read(Self.programSize, at: 0, of: descriptor)
            if let format = Self.format(in: code) { self = .program(format) }
        }
    }

    /// What servers answer with in the place of a file.
    private static func text(_ head: UnsafeRawBufferPointer) -> String? {
        let begin = head.drop { blanks.contains($0) }.prefix(16)
        // Most files are told by their first byte.
        guard begin.first == UInt8(ascii: "<") || begin.first == UInt8(ascii: "{") else { return nil }
        let text = String(decoding: begin, as: UTF8.self).lowercased()
        if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") { return "a web page" }
        return text.hasPrefix("<?xml") ? "an XML text" : text.hasPrefix("{") ? "a JSON text" : nil
    }

    /// White space, and the mark of UTF-8.
    private static let blanks: [UInt8] = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]

    private static func zip(atEndOf descriptor: Int32, within count: Int) throws(Errno) -> Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        let size = Int64(status.st_size)
        let tail = try read(count, at: max(0, size - Int64(count)), of: descriptor)
        return try tail.withUnsafeBufferPointer { (tail) throws(Errno) in
            try zip(endingIn: UnsafeRawBufferPointer(tail), of: size, descriptor)
        }
    }

    /// Where the first entry of a zip begins whose end is that of the file. Places in it count from the file's
    /// beginning, or from the zip's.
    private static func zip(
        endingIn tail: UnsafeRawBufferPointer, of size: Int64, _ descriptor: Int32
    ) throws(Errno) -> Int64? {
        for index in records(in: tail).reversed() {
            let record = Fields(Array(tail[index..<(index + recordSize)]))
            guard let length = record.u32(12), let offset = record.u32(16), let comment = record.u16(20),
                index + recordSize + Int(comment) == tail.count
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

    /// Where there is room for the record that ends a zip, and its mark.
    private static func records(in bytes: UnsafeRawBufferPointer) -> [Int] {
        guard let base = bytes.baseAddress else { return [] }
        var (found, start) = ([Int](), 0)
        while start + recordSize <= bytes.count {
            guard let mark = memchr(base + start, 0x50, bytes.count - recordSize + 1 - start) else { break }
            let index = UnsafeRawPointer(mark) - base
            if bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian == 0x0605_4B50 {
                found.append(index)
            }
            start = index + 1
        }
        return found
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

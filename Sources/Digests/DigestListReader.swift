import Glibc
package import SystemPackage

/// Reads a list of digests line by line: whoever wrote it, no more of it is in memory than a line and what is read at
/// once.
package struct DigestListReader: ~Copyable {
    /// How a list is written.
    package enum Encoding: Sendable {
        /// UTF-8, unless a byte order mark says otherwise, as some of Windows' tools write them.
        case utf8
        /// ISO-8859-1
        case latin1
        /// UTF-16; without a mark it is big-endian (RFC 2781, 4.3).
        case utf16
    }

    /// Why a list cannot be read on.
    package enum Problem: Error, Sendable, Hashable {
        /// This line, counted from 1, is not a digest and path, or longer than any path is.
        case strange(line: Int)
        case tooManyLines(Int)
        /// read(2) failed.
        case unreadable(Errno)
    }

    /// The most lines that are read: four for each of a million files.
    package static let mostLines = 4_000_000
    /// The most bytes of a line: a digest, and a path whose every byte is escaped.
    private static let longestLine = 16 << 10
    private static let share = 64 << 10

    private let descriptor: Int32?
    private let reader: DigestList.LineReader
    private let mostLines: Int
    private var decoder: Decoder
    /// What was read and not yet told.
    private var text: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private var number = 0
    /// Whether lines end with a NUL (`sha256sum --zero`), since there is one in the beginning of the text.
    private var isRaw = false
    private var armor = Armor()

    /// Whether a PGP signature came with it.
    package var isSigned: Bool { armor.isSigned }

    /// Reads what a descriptor still gives; it stays the caller's. `algorithm`: what the list's name says; nil where it
    /// says nothing, and the length of a digest does.
    package init(
        descriptor: Int32, algorithm: DigestAlgorithm?, form: DigestList.Form, encoding: Encoding = .utf8,
        mostLines: Int = mostLines
    ) {
        self.descriptor = descriptor
        reader = DigestList.LineReader(algorithm: algorithm, form: form)
        decoder = Decoder(encoding)
        self.mostLines = mostLines
    }

    init(_ text: [UInt8], _ reader: DigestList.LineReader) {
        descriptor = nil
        self.reader = reader
        mostLines = .max
        decoder = Decoder(.utf8)
        self.text = decoder.decode(text, isLast: true)
        isAtEnd = true
        isRaw = reader.mayBeRaw && self.text.contains(0)
    }

    /// The next line that says something; nil at the end.
    package mutating func next() throws(Problem) -> DigestList.Line? {
        while let line = try nextLine() {
            number += 1
            if number > mostLines { throw .tooManyLines(mostLines) }
            guard let line = reader.isFramed ? armor.text(of: line) : line, !reader.isSilent(line) else {
                continue
            }
            guard let read = reader.read(line, isRaw: isRaw) else { throw .strange(line: number) }
            return read
        }
        // What a signature's frame swallows to the end would say nothing, without a word.
        if armor.isOpen { throw .strange(line: number) }
        return nil
    }

    /// LF, CR and CRLF end lines; or NUL.
    private mutating func nextLine() throws(Problem) -> ArraySlice<UInt8>? {
        while true {
            let isRaw = isRaw
            let end = text[position...].firstIndex { isRaw ? $0 == 0 : $0 == 0x0A || $0 == 0x0D }
            // A CR at the end of what is there may have its LF behind it.
            if let end, text[end] != 0x0D || end + 1 < text.count || isAtEnd {
                let line = text[position..<end]
                let isPair = text[end] == 0x0D && end + 1 < text.count && text[end + 1] == 0x0A
                position = end + (isPair ? 2 : 1)
                return line
            }
            if isAtEnd {
                defer { position = text.count }
                return position < text.count ? text[position...] : nil
            }
            if text.count - position > Self.longestLine { throw .strange(line: number + 1) }
            try fill()
        }
    }

    private mutating func fill() throws(Problem) {
        guard let descriptor else { return }
        text.removeSubrange(..<position)
        position = 0
        var error: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.share) { buffer, filled in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count < 0 { error = Errno(rawValue: errno) }
                filled = max(0, count)
                return
            }
        }
        if let error { throw .unreadable(error) }
        isAtEnd = bytes.isEmpty
        text += decoder.decode(bytes, isLast: isAtEnd)
        if number == 0, reader.mayBeRaw, text.contains(0) { isRaw = true }
    }
}

extension DigestListReader {
    /// The frame of a text that is signed with PGP (RFC 9580, section 7). Nobody here knows whose key it should be, so
    /// the signature itself is passed over.
    private struct Armor {
        private enum Part { case outside, headers, text, signature }

        private var part = Part.outside
        private(set) var isSigned = false
        var isOpen: Bool { part != .outside }

        /// What the signer wrote in this line; nil for one of the frame.
        mutating func text(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
            func says(_ words: String) -> Bool { line.elementsEqual("-----\(words)-----".utf8) }
            switch part {
            case .outside where says("BEGIN PGP SIGNED MESSAGE"): (part, isSigned) = (.headers, true)
            case .outside where says("BEGIN PGP SIGNATURE"), .text where says("BEGIN PGP SIGNATURE"):
                (part, isSigned) = (.signature, true)
            case .outside: return line
            case .headers: if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { part = .text }
            case .text: return line.starts(with: "- ".utf8) ? line.dropFirst(2) : line
            case .signature: if says("END PGP SIGNATURE") { part = .outside }
            }
            return nil
        }
    }

    /// Makes UTF-8 of what comes in pieces.
    private struct Decoder {
        private var encoding: Encoding
        private var isBegun = false
        private var isLittle = false
        /// Too little yet: of a mark, of a unit, of a pair.
        private var rest: [UInt8] = []

        init(_ encoding: Encoding) { self.encoding = encoding }

        mutating func decode(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
            var bytes = rest.isEmpty ? bytes : rest + bytes
            rest = []
            if !isBegun {
                guard bytes.count >= 3 || isLast else {
                    rest = bytes
                    return []
                }
                isBegun = true
                if encoding != .latin1 { bytes.removeFirst(begin(bytes)) }
            }
            switch encoding {
            case .utf8: return bytes
            case .latin1: return Array(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8)
            case .utf16: return utf16(bytes, isLast)
            }
        }

        /// Looks for a mark; returns how many bytes it has.
        private mutating func begin(_ bytes: [UInt8]) -> Int {
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return 3 }
            guard bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) else { return 0 }
            encoding = .utf16
            isLittle = bytes[0] == 0xFF
            return 2
        }

        private mutating func utf16(_ bytes: [UInt8], _ isLast: Bool) -> [UInt8] {
            var units = stride(from: 0, to: bytes.count - 1, by: 2).map { index -> UInt16 in
                let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                return isLittle ? second << 8 | first : first << 8 | second
            }
            var end = units.count * 2
            if !isLast, let last = units.last, UTF16.isLeadSurrogate(last) {
                units.removeLast()
                end -= 2
            }
            rest = isLast ? [] : Array(bytes[end...])
            return Array(String(decoding: units, as: UTF16.self).utf8)
        }
    }
}

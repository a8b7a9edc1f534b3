/// PDF (ISO 32000): the last `%%EOF`, and before it where the table of objects lies. One that is linearised says how
/// long it was made.
enum PDFFile: FormatReader {
    private static let headSize = 1024, tailSize = 2048
    private static let spaces: Set<UInt8> = [0, 9, 10, 12, 13, 32]

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        let head = Array(try content.bytes(0, headSize))
        // What has it anywhere else may be text about PDFs, or a printer's job with one in it.
        let isMarked = head.starts(with: [0xEF, 0xBB, 0xBF])
        let start = head.dropFirst(isMarked ? 3 : 0).firstIndex { !spaces.contains($0) } ?? head.endIndex
        guard head[start...].starts(with: Array("%PDF-".utf8)) else { return nil }
        if let length = number(after: "/L", in: head[...]), place(of: "/Linearized", in: head[...], last: false) != nil,
            length > content.size
        {
            return .lacks(.bytes(length - content.size))
        }
        let tail = Array(try content.tail(tailSize))
        guard let end = place(of: "%%EOF", in: tail[...], last: true),
            tail[(end + 5)...].allSatisfy({ spaces.contains($0) })
        else { return .lacks(.end) }
        guard let mark = place(of: "startxref", in: tail[..<end], last: true),
            let table = number(after: "startxref", in: tail[mark..<end])
        else { return .lacks(.end) }
        // Some count from where the file begins, some from where the document does.
        for table in [table, table + Int64(start)] where table > 0 {
            let found = try content.bytes(table, 32).drop { spaces.contains($0) }
            if found.starts(with: Array("xref".utf8)) || found.first.map({ (0x30...0x39).contains($0) }) ?? false {
                return .whole
            }
        }
        return .lacks(.target)
    }

    private static func place(of word: String, in bytes: ArraySlice<UInt8>, last: Bool) -> Int? {
        let word = Array(word.utf8)
        guard bytes.count >= word.count else { return nil }
        let places = bytes.startIndex...(bytes.endIndex - word.count)
        let isThere = { (place: Int) in bytes[place...].starts(with: word) }
        return last ? places.last(where: isThere) : places.first(where: isThere)
    }

    /// The number behind a word, where it is followed by one.
    private static func number(after word: String, in bytes: ArraySlice<UInt8>) -> Int64? {
        var rest = bytes
        while let place = place(of: word, in: rest, last: false) {
            rest = rest[(place + word.utf8.count)...]
            let digits = rest.drop { spaces.contains($0) }.prefix { (0x30...0x39).contains($0) }
            if !digits.isEmpty { return Int64(String(decoding: digits, as: UTF8.self)).map { min($0, 1 << 60) } }
        }
        return nil
    }
}

/// A box of an MP4 file, with others or with data in it.
struct MP4Box {
    /// Four characters.
    let kind: String
    /// With its head; 0 for up to the end of the file, nil where its head ends before it says that.
    let length: Int64?
    private let place: Int64
    private let headSize: Int64
    private let content: Content

    private static let mostChildren = 10_000
    /// The longest list of items that is read.
    private static let longestList: Int64 = 4 << 20

    /// The box at a place; nil where there is not even a head.
    init?(at place: Int64, in content: Content) throws(ReadError) {
        let word = try content.bytes(place + 4, 4)
        guard word.count == 4, let short = try content.big(place, 4) else { return nil }
        kind = String(decoding: word, as: UTF8.self)
        length = short == 1 ? try content.big(place + 8, 8) : short
        headSize = short == 1 ? 16 : 8
        self.place = place
        self.content = content
    }

    /// Whether its kind is a word.
    var isNamed: Bool { kind.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// The first box of a kind in it, `behind` so many bytes of its own.
    func child(_ kind: String, behind own: Int64 = 0) throws(ReadError) -> MP4Box? {
        var next = place + headSize + own
        for _ in 0..<Self.mostChildren where next < place + (length ?? 0) {
            guard let box = try MP4Box(at: next, in: content), let length = box.length, length >= 8 else { return nil }
            if box.kind == kind { return box }
            next += length
        }
        return nil
    }

    /// How far the items go that this one lists (`iloc`), as far as they lie in the file itself.
    func endOfItems() throws(ReadError) -> Int64 {
        guard let length, length <= Self.longestList else { return 0 }
        var list = Numbers(rest: try content.bytes(place + headSize, Int(length - headSize)))
        guard let version = list.next(1), version <= 2, list.next(3) != nil, let sizes = list.next(2),
            let count = list.next(version < 2 ? 2 : 4)
        else { return 0 }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version == 0 ? 0 : sizes & 15
        var end: Int64 = 0
        for _ in 0..<count {
            guard list.next(version < 2 ? 2 : 4) != nil, let method = list.next(version == 0 ? 0 : 2),
                let source = list.next(2), let base = list.next(baseSize), let extents = list.next(2)
            else { break }
            // Others lie in this box, or in another file.
            let isHere = method & 15 == 0 && source == 0
            for _ in 0..<extents where offsetSize + lengthSize + indexSize > 0 {
                guard list.next(indexSize) != nil, let offset = list.next(offsetSize),
                    let length = list.next(lengthSize)
                else { break }
                if isHere { end = max(end, base + offset + length) }
            }
        }
        return end
    }

    private struct Numbers {
        var rest: ArraySlice<UInt8>

        mutating func next(_ count: Int64) -> Int64? {
            defer { rest = rest.dropFirst(Int(count)) }
            return rest.big(Int(count))
        }
    }
}

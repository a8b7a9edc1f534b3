/// TIFF, BigTIFF and what cameras make of them: directories that say where everything lies. All of that has to be
/// within the file.
enum TIFFFile: FormatReader {
    private static let mostDirectories = 65_536, mostEntries: Int64 = 4096, mostStrips: Int64 = 1 << 20
    /// Entries of all directories together, and directories that they lead to.
    private static let mostInAll: Int64 = 1 << 20
    /// Bytes of a value, by its type.
    private static let sizes: [Int64: Int64] = [
        1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
    ]

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        let isBig: Bool
        switch Array(try content.bytes(0, 2)) {
        case [0x49, 0x49]: isBig = false
        case [0x4D, 0x4D]: isBig = true
        default: return nil
        }
        var tiff = TIFF(content: content, isBig: isBig)
        switch try tiff.number(2, 2) {
        case 42: break
        case 43: tiff.isLarge = true
        default: return nil
        }
        guard let first = try tiff.isLarge ? tiff.number(8, 8) : tiff.number(4, 4) else { return .lacks(.end) }
        // It is filled in last.
        guard first >= 8 else { return .lacks(.beginning) }
        return try tiff.look(from: first)
    }

    private struct TIFF {
        let content: Content
        let isBig: Bool
        var isLarge = false
        /// How far what the directories lead to goes.
        var furthest: Int64 = 0
        var strips: Int64 = 0
        /// Of all directories so far.
        var entries: Int64 = 0
        /// Where directories lie that were not looked at yet, and all that are known.
        var pending: [Int64] = []
        var seen: Set<Int64> = []

        func number(_ offset: Int64, _ count: Int) throws(ReadError) -> Int64? {
            isBig ? try content.big(offset, count) : try content.little(offset, count)
        }

        mutating func look(from first: Int64) throws(ReadError) -> Finding {
            add(first)
            while let place = pending.popLast() {
                guard let next = try directory(at: place) else { return .lacks(.end) }
                // The first one holds something.
                if entries == 0 { return .lacks(.end) }
                if next > 0 { add(next) }
                if furthest > content.size { return .lacks(.bytes(furthest - content.size)) }
                if strips > mostStrips || entries > mostInAll || seen.count > mostDirectories { return .unclear }
            }
            return .whole
        }

        private mutating func add(_ place: Int64) {
            if seen.count <= mostDirectories, seen.insert(place).inserted { pending.append(place) }
        }

        /// Takes in a directory; where the next one lies, 0 for the last, nil where this one is not there.
        private mutating func directory(at place: Int64) throws(ReadError) -> Int64? {
            let (countSize, entrySize, wide): (Int64, Int64, Int) = isLarge ? (8, 20, 8) : (2, 12, 4)
            guard let count = try number(place, Int(countSize)), count <= mostEntries else { return nil }
            entries += count
            var places: [Data: Values] = [:]
            var lengths: [Data: Values] = [:]
            for entry in 0..<count {
                let start = place + countSize + entry * entrySize
                guard let tag = try number(start, 2), let type = try number(start + 2, 2),
                    let values = try number(start + 4, wide)
                else { return nil }
                let field = start + 4 + Int64(wide)
                guard let size = sizes[type] else {
                    // Readers skip types that they do not know.
                    guard try number(field, wide) != nil else { return nil }
                    continue
                }
                let bytes = min(values, Content.mostNumber / 16) * size
                guard let target = bytes <= wide ? field : try number(field, wide) else { return nil }
                furthest = max(furthest, target + bytes)
                let found = Values(place: target, count: values, size: Int(size))
                switch tag {
                case 273: places[.strips] = found
                case 279: lengths[.strips] = found
                case 324: places[.tiles] = found
                case 325: lengths[.tiles] = found
                case 513: places[.picture] = found
                case 514: lengths[.picture] = found
                // Directories of other kinds: of the camera, of other sizes.
                case 330, 34_665, 34_853:
                    guard furthest <= content.size else { break }
                    for index in 0..<min(values, 64) where entries <= mostInAll {
                        entries += 1
                        if let one = try number(target + index * size, Int(size)) { add(one) }
                    }
                default: break
                }
            }
            if furthest <= content.size {
                for (data, places) in places { if let lengths = lengths[data] { try add(places, lengths) } }
            }
            let next = place + countSize + count * entrySize
            // Some leave out where the next one is if there is none.
            return next == content.size ? 0 : try number(next, wide)
        }

        /// What a directory says the place and the length of, one of each kind: strips, tiles, a JPEG.
        private enum Data { case strips, tiles, picture }

        private struct Values {
            let place: Int64, count: Int64
            let size: Int
        }

        private mutating func add(_ places: Values, _ lengths: Values) throws(ReadError) {
            let count = min(places.count, lengths.count)
            strips += count
            guard strips <= mostStrips else { return }
            for index in 0..<count {
                guard let place = try number(places.place + index * Int64(places.size), places.size),
                    let length = try number(lengths.place + index * Int64(lengths.size), lengths.size)
                else { continue }
                furthest = max(furthest, place + length)
            }
        }
    }
}

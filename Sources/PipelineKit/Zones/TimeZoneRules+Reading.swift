import Files

/// Reads what is in files of the time zone database: TZif (RFC 9636). They come with the system and may be broken all
/// the same: nothing in them is believed before it was looked at.
extension TimeZoneRules {
    /// No zone's file is nearly as large.
    static let largestFile = 256 << 10

    /// From a file's bytes. Throws what is wrong with them.
    package init(tzif bytes: [UInt8]) throws(TimeZoneProblem) {
        var reader = Reader(bytes: bytes)
        var counts = try reader.header()
        let isWide = counts.version >= UInt8(ascii: "2")
        if isWide {
            // The same follows with times of 64 bits.
            try reader.skip(counts.size(timeBytes: 4))
            counts = try reader.header()
        }
        let timeBytes = isWide ? 8 : 4
        guard counts.types > 0, [0, counts.types].contains(counts.standards), [0, counts.types].contains(counts.utcs)
        else { throw TimeZoneProblem("its counts make no sense") }
        guard counts.leaps == 0 else {
            throw TimeZoneProblem(
                "it counts leap seconds, which the system's clock does not; choose one without 'right/'")
        }
        // Before anything is made of so many.
        guard counts.size(timeBytes: timeBytes) <= reader.left else { throw Reader.cut }
        var times: [Int64] = []
        for _ in 0..<counts.times {
            let time = try reader.integer(timeBytes)
            if let last = times.last, last >= time { throw TimeZoneProblem("its times are not in order") }
            times.append(time)
        }
        let places = try (0..<counts.times).map { _ throws(TimeZoneProblem) in Int(try reader.byte()) }
        let types = try (0..<counts.types).map { _ throws(TimeZoneProblem) in
            let offset = try reader.integer(4)
            try reader.skip(2)
            guard (-89_999...93_599).contains(offset) else {
                throw TimeZoneProblem("it has an offset of \(offset) seconds")
            }
            return Int32(offset)
        }
        guard places.allSatisfy(types.indices.contains) else { throw TimeZoneProblem("its types make no sense") }
        try reader.skip(counts.names + counts.standards + counts.utcs)
        var footer: TimeZoneFooter?
        if isWide, let text = try reader.footer() {
            footer = TimeZoneFooter(text)
            if footer == nil { throw TimeZoneProblem("its rule '\(EscapedText.of(text))' makes no sense") }
        }
        self.init(times: times, offsets: places.map { types[$0] }, first: types[0], footer: footer)
    }

    /// How many there are of what.
    private struct Counts {
        let version: UInt8
        let utcs: Int, standards: Int, leaps: Int, times: Int, types: Int, names: Int

        /// Of the block behind a header. Each count has 32 bits: no sum overflows.
        func size(timeBytes: Int) -> Int {
            times * (timeBytes + 1) + types * 6 + names + leaps * (timeBytes + 4) + standards + utcs
        }
    }

    private struct Reader {
        static let cut = TimeZoneProblem("it ends early")

        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var left: Int { bytes.count - place }

        mutating func skip(_ count: Int) throws(TimeZoneProblem) {
            guard (0...left).contains(count) else { throw Self.cut }
            place += count
        }

        mutating func byte() throws(TimeZoneProblem) -> UInt8 {
            guard left > 0 else { throw Self.cut }
            defer { place += 1 }
            return bytes[place]
        }

        /// In so many bytes, the highest first; negative where its first bit is set.
        mutating func integer(_ count: Int) throws(TimeZoneProblem) -> Int64 {
            var value: Int64 = Int8(bitPattern: try byte()) < 0 ? -1 : 0
            place -= 1
            for _ in 0..<count { value = value << 8 | Int64(try byte()) }
            return value
        }

        mutating func header() throws(TimeZoneProblem) -> Counts {
            guard bytes[place...].starts(with: Array("TZif".utf8)) else {
                throw TimeZoneProblem("it is no file of the time zone database")
            }
            try skip(4)
            let version = try byte()
            try skip(15)
            let counts = try (0..<6).map { _ throws(TimeZoneProblem) in
                Int(UInt32(truncatingIfNeeded: try integer(4)))
            }
            return Counts(
                version: version, utcs: counts[0], standards: counts[1], leaps: counts[2], times: counts[3],
                types: counts[4], names: counts[5])
        }

        /// The text at the end; nil where it is empty: nothing is known of the time behind the last change.
        mutating func footer() throws(TimeZoneProblem) -> String? {
            let newline = UInt8(ascii: "\n")
            guard try byte() == newline, let end = bytes[place...].firstIndex(of: newline) else { throw Self.cut }
            let text = String(decoding: bytes[place..<end], as: UTF8.self)
            return text.isEmpty ? nil : text
        }
    }
}

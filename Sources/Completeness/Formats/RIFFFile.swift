/// RIFF (WAV, AVI, WebP): its first bytes say how long it is. Large films are several of them in a row.
enum RIFFFile: FormatReader {
    private static let mostParts = 10_000

    static func look(at content: Content) throws(ReadError) -> Finding? {
        let word = String(decoding: try content.bytes(0, 4), as: UTF8.self)
        guard ["RIFF", "RIFX", "RF64", "BW64"].contains(word), let form = try content.big(8, 4),
            form & 0x8080_8080 == 0
        else { return nil }
        let isBig = word == "RIFX", isLarge = word.hasSuffix("64")
        var place: Int64 = 0
        for part in 0..<mostParts {
            guard let length = isBig ? try content.big(place + 4, 4) : try content.little(place + 4, 4) else {
                return .lacks(.end)
            }
            // Of a sound that is written to a pipe nobody knows the length.
            guard length > 4, length < 0xFFFF_FFFF || isLarge else { return part == 0 ? .unclear : .lacks(.end) }
            var end = place + 8 + length
            if isLarge, part == 0 {
                guard try content.has("ds64", at: 12), let large = try content.little(20, 8) else {
                    return .lacks(.end)
                }
                end = 8 + large
            }
            if end > content.size { return .lacks(.bytes(end - content.size)) }
            place = end + end % 2
            // What else follows is none of it; the beginning of another part is.
            let rest = try content.bytes(place, 4)
            guard !rest.isEmpty, Array("RIFF".utf8).starts(with: rest) else { return .whole }
        }
        return .unclear
    }
}

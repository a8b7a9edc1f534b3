/// RIFF (WAV, AVI, WebP): its first bytes say how long it is. Large films are several of them in a row.
enum RIFFFile: FormatReader {
    private static let mostParts = 10_000
    /// Sounds, films, pictures, pointers, instruments, notes, palettes: a text may begin with the word as well.
    private static let forms: Set<String> = [
        "WAVE", "AVI ", "AVIX", "WEBP", "ACON", "sfbk", "DLS ", "RMID", "PAL ", "CDDA", "XWMA",
    ]
    /// A sound written to a pipe has no known length: its header holds 0, or about the largest number that fits.
    private static func isGuess(_ length: Int64) -> Bool {
        length <= 4 || (0x7FFF_F000...0x7FFF_FFFF).contains(length) || (0xFFFF_F000...0xFFFF_FFFF).contains(length)
    }

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        let word = String(decoding: try content.bytes(0, 4), as: UTF8.self)
        guard ["RIFF", "RIFX", "RF64", "BW64"].contains(word),
            forms.contains(String(decoding: try content.bytes(8, 4), as: UTF8.self))
        else { return nil }
        let isBig = word == "RIFX", isLarge = word.hasSuffix("64")
        var place: Int64 = 0
        for part in 0..<mostParts {
            guard let length = isBig ? try content.big(place + 4, 4) : try content.little(place + 4, 4) else {
                return .lacks(.end)
            }
            if isGuess(length), !isLarge { return part == 0 ? .unclear : .lacks(.end) }
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

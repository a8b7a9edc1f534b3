/// MP4, QuickTime and their kin (ISO 14496-12): boxes that say how long they are and fill the file, with a movie and
/// its media among them.
enum MP4File: FormatReader {
    private static let firstKinds: Set<String> = ["ftyp", "styp", "moov", "mdat", "wide", "free", "skip", "pnot"]
    private static let mostBoxes = 1 << 20

    static func look(at content: Content) throws(ReadError) -> Finding? {
        guard let first = try kind(at: 0, in: content), firstKinds.contains(first), let length = try content.big(0, 4),
            length == 0 || length == 1 || (8...1 << 31).contains(length)
        else { return nil }
        var place: Int64 = 0
        var seen: Set<String> = []
        for _ in 0..<mostBoxes where place < content.size {
            guard var length = try content.big(place, 4), let kind = try kind(at: place, in: content) else {
                return .lacks(.bytes(place + 8 - content.size))
            }
            // What else follows a whole film is none of it.
            if isWhole(seen), !kind.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return .whole }
            seen.insert(kind)
            if length == 1 {
                guard let large = try content.big(place + 8, 8) else { return .lacks(.end) }
                length = large
            }
            // It goes on to the end of the file, wherever that is: as while it is recorded.
            if length == 0 { return seen.contains("moov") && kind == "mdat" ? .unclear : .lacks(.end) }
            guard length >= 8 else { return .lacks(.sense) }
            place += length
            if place > content.size { return .lacks(.bytes(place - content.size)) }
        }
        if place < content.size { return .unclear }
        return isWhole(seen) ? .whole : .lacks(.end)
    }

    /// Whether there is a movie with its media. Pictures have neither, and a part of a stream no movie.
    private static func isWhole(_ seen: Set<String>) -> Bool {
        seen.contains("moov") && !seen.isDisjoint(with: ["mdat", "moof"]) || seen.contains("meta")
            || seen.isSuperset(of: ["moof", "mdat"])
    }

    /// A word of four printable characters.
    private static func kind(at place: Int64, in content: Content) throws(ReadError) -> String? {
        let bytes = try content.bytes(place + 4, 4)
        guard bytes.count == 4 else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

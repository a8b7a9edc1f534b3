/// MP4, QuickTime and their kin (ISO 14496-12): boxes that say how long they are and fill the file, with a movie and
/// its media among them, or pictures (ISO 23008-12).
enum MP4File: FormatReader {
    /// What begins a file, and what else began one before there was that.
    private static let firstKinds: Set<String> = ["ftyp", "styp"]
    private static let oldFirstKinds: Set<String> = ["moov", "mdat", "wide", "free", "skip", "pnot"]
    private static let mostBoxes = 1 << 20

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard try isMovie(content) else { return nil }
        var place: Int64 = 0
        var seen: Set<String> = []
        // Where the pictures end, if there are some.
        var pictures: Int64?
        for _ in 0..<mostBoxes where place < content.size {
            let box = try MP4Box(at: place, in: content)
            // What else follows a whole film is none of it.
            if isWhole(seen) || pictures.map({ $0 <= place }) ?? false, !(box?.isNamed ?? false) { return .whole }
            guard let box else { return .lacks(.bytes(place + 8 - content.size)) }
            seen.insert(box.kind)
            guard let length = box.length else { return .lacks(.end) }
            // It goes on to the end of the file, wherever that is: as while it is recorded.
            if length == 0 { return seen.contains("moov") && box.kind == "mdat" ? .unclear : .lacks(.end) }
            guard length >= 8 else { return .lacks(.sense) }
            place += length
            if place > content.size { return .lacks(.bytes(place - content.size)) }
            switch box.kind {
            // Its parts come behind it, or in files of their own.
            case "moov": if try box.child("mvex") != nil { seen.insert("mvex") }
            case "meta": pictures = try box.child("iloc", behind: 4)?.endOfItems()
            default: break
            }
        }
        if place < content.size { return .unclear }
        if let pictures, pictures > content.size { return .lacks(.bytes(pictures - content.size)) }
        return isWhole(seen) || pictures != nil ? .whole : .lacks(.end)
    }

    /// Whether there is a movie with its media. Pictures may be in one box alone, and a part of a stream has no movie.
    private static func isWhole(_ seen: Set<String>) -> Bool {
        seen.contains("moov") && !seen.isDisjoint(with: ["mdat", "moof", "mvex"]) || seen.contains("mini")
            || seen.isSuperset(of: ["moof", "mdat"])
    }

    /// Whether it begins as such files do. In a text any of the words may stand there; but its first letters are no
    /// length, or no box lies where they lead to.
    private static func isMovie(_ content: Content) throws(ReadError) -> Bool {
        guard let first = try MP4Box(at: 0, in: content),
            try !content.bytes(0, 4).allSatisfy({ $0 >= 0x20 || [9, 10, 13].contains($0) })
        else { return false }
        if firstKinds.contains(first.kind) { return true }
        guard oldFirstKinds.contains(first.kind) else { return false }
        guard let length = first.length, length > 0 else { return true }
        guard length >= 8, let second = try MP4Box(at: length, in: content) else { return length >= 8 }
        return second.isNamed || second.length == 0
    }
}

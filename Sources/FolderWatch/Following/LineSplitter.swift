/// Makes lines of pieces of a file. Pure.
struct LineSplitter {
    private let longest: Int
    /// The beginning of a line whose end has not come.
    private var rest: [UInt8] = []
    /// Where `rest` begins.
    private var place: FollowCheckpoint?
    private var isReopened = false
    private var isTruncated = false

    private static let newline = UInt8(ascii: "\n")

    /// Lines are cut after so many bytes.
    init(longest: Int) { self.longest = max(1, longest) }

    /// The lines that end with this piece.
    mutating func split(_ piece: FollowedBytes) -> [FollowedLine] {
        var lines: [FollowedLine] = []
        if piece.isReopened || piece.isTruncated {
            // Its end will not come.
            if let place, !rest.isEmpty { lines.append(line(rest[...], isComplete: false, place.advanced(by: rest))) }
            (rest, place) = ([], nil)
            isReopened = isReopened || piece.isReopened
            isTruncated = isTruncated || piece.isTruncated
        }
        var place = place ?? piece.start
        // What waits has no newline.
        var searched = rest.count
        rest += piece.bytes
        var start = 0
        while start < rest.count {
            let isTooLong = rest.count - start > longest
            // The newline of a line of exactly the longest length is its next byte.
            let most = isTooLong ? start + longest + 1 : rest.count
            let newline = rest[min(max(start, searched), most)..<most].firstIndex(of: Self.newline)
            guard let end = newline.map({ $0 + 1 }) ?? (isTooLong ? most - 1 : nil) else { break }
            place = place.advanced(by: rest[start..<end])
            lines.append(line(rest[start..<(newline ?? end)], isComplete: newline != nil, place))
            (start, searched) = (end, end)
        }
        rest.removeFirst(start)
        self.place = place
        return lines
    }

    private mutating func line(
        _ bytes: ArraySlice<UInt8>, isComplete: Bool, _ checkpoint: FollowCheckpoint
    ) -> FollowedLine {
        defer { (isReopened, isTruncated) = (false, false) }
        return FollowedLine(
            bytes: Array(bytes), isComplete: isComplete, isReopened: isReopened, isTruncated: isTruncated,
            checkpoint: checkpoint)
    }
}

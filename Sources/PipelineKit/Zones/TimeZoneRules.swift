import Files

/// How the clocks of a time zone go: how far they are ahead of UTC at which time. Pure.
package struct TimeZoneRules: Sendable, Hashable {
    /// The changes on record, in order: when, and the offset from then on.
    private let times: [Int64]
    private let offsets: [Int32]
    /// The offset before the first one.
    private let first: Int32
    /// What goes for the time from the last one on; nil: its offset does.
    private let footer: TimeZoneFooter?

    /// Clocks that show UTC.
    package static let utc = TimeZoneRules(times: [], offsets: [], first: 0, footer: nil)

    /// Some ten thousand years around now: nobody asks for others, and no sum overflows.
    private static let most: Int64 = 1 << 38

    /// `times` ascend, and have an offset each.
    init(times: [Int64], offsets: [Int32], first: Int32, footer: TimeZoneFooter?) {
        (self.times, self.offsets, self.first, self.footer) = (times, offsets, first, footer)
    }

    /// Seconds east of UTC at a time, given in seconds since 1970.
    package func offset(at second: Int64) -> Int {
        let second = min(max(second, -Self.most), Self.most)
        if let footer, times.last.map({ $0 <= second }) ?? true { return footer.offset(at: second) }
        let place = place(after: second)
        return Int(place == 0 ? first : offsets[place - 1])
    }

    /// The offset at `begin`, and each that follows until `end`, with when it does.
    func spans(from begin: Int64, to end: Int64) -> [(begin: Int64, offset: Int)] {
        let begin = min(max(begin, -Self.most), Self.most)
        let end = min(max(end, begin), Self.most)
        var spans = [(begin: begin, offset: offset(at: begin))]
        var place = place(after: begin)
        while place < times.count, times[place] <= end {
            // The last one on record may be the first by the rules that follow.
            spans.append((times[place], offset(at: times[place])))
            place += 1
        }
        let known = times.last.map { max($0, begin) } ?? begin
        if let footer, known < end {
            for change in footer.changes(from: known, to: end) where change.at > known && change.at <= end {
                spans.append((change.at, change.offset))
            }
        }
        return spans
    }

    /// How many changes there have been by then.
    private func place(after second: Int64) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = low + (high - low) / 2
            if times[middle] <= second { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

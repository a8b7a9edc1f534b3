package import Files

/// When a pipeline is open: days and times by the clocks of a zone. Pure; what time it is comes from elsewhere, and
/// what was said of one counts for nothing once the clock was set.
///
/// A range belongs to the day on which it begins, and goes on over midnight where it ends earlier in the day. Where
/// clocks are put back over a boundary, and show it twice, it opens at the first and closes at the second; where they
/// are put forward over it, both happen then. So no change to summer time opens and closes twice.
package struct Hours: Sendable, Hashable {
    /// As they were written.
    package let texts: [String]
    package let zone: TimeZoneRules
    private let ranges: [HoursRange]

    private static let most = 100
    /// After so many days whatever can change has changed: once a week a change to summer time may take one out.
    private static let horizon: Int64 = 62
    private static let minute: Int64 = 60
    /// A day may be missing in a zone, or last two, and clocks differ by a day from UTC.
    private static let reach = 4 * CalendarDay.seconds

    /// From entries such as `Mon-Fri 20:00-06:00` and `Sat,Sun`.
    package init(_ texts: [String], zone: TimeZoneRules) throws(HoursProblem) {
        guard (1...Self.most).contains(texts.count) else {
            throw HoursProblem(
                texts.isEmpty
                    ? "the list of hours is empty, so that nothing would ever begin; list some, or leave it out"
                    : "\(texts.count) hours are listed, and may be \(Self.most)")
        }
        var ranges: [HoursRange] = []
        for (index, text) in texts.enumerated() {
            do throws(HoursProblem) {
                ranges.append(try HoursRange(text))
            } catch {
                throw HoursProblem(error.message, entry: index)
            }
        }
        (self.texts, self.zone, self.ranges) = (texts, zone, ranges)
    }

    package func isOpen(at time: Timestamp) -> Bool {
        let (second, today) = place(of: time)
        return (today - 2...today + 1).contains { day in openings(on: day).contains { $0.contains(second) } }
    }

    /// When it next closes, or opens where it is closed. Nil where it never does.
    package func nextChange(after time: Timestamp) -> Timestamp? {
        let (second, today) = place(of: time)
        var open: Int64?
        for day in today - 2...today + Self.horizon {
            // What begins on later days begins later.
            for opening in openings(on: day) where opening.upperBound > second {
                if let end = open {
                    if opening.lowerBound > end { return Self.timestamp(end) }
                    open = max(end, opening.upperBound)
                } else if opening.lowerBound > second {
                    return Self.timestamp(opening.lowerBound)
                } else {
                    open = opening.upperBound
                }
            }
        }
        return nil
    }

    /// `Mon 20:00`, as the zone's clocks show it; a date where the name of a day would not do.
    package func text(of time: Timestamp, at now: Timestamp) -> String {
        let wall = wall(at: Self.second(of: time))
        let (day, today) = (wall.floored(by: CalendarDay.seconds), place(of: now).today)
        let minutes = (wall - day * CalendarDay.seconds) / Self.minute
        func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = CalendarDay.date(day)
        let name =
            (today...today + 6).contains(day)
            ? HoursRange.names[CalendarDay.weekday(day)] : "\(date.year)-\(digits(date.month))-\(digits(date.day))"
        return "\(name) \(digits(minutes / 60)):\(digits(minutes % 60))"
    }

    /// The second of a time, and the number of the day that the zone's clocks show then.
    private func place(of time: Timestamp) -> (second: Int64, today: Int64) {
        let second = Self.second(of: time)
        return (second, wall(at: second).floored(by: CalendarDay.seconds))
    }

    /// What the zone's clocks show, in seconds as UTC's show them since 1970.
    private func wall(at second: Int64) -> Int64 { second + Int64(zone.offset(at: second)) }

    /// The times that begin on a day, the earliest first.
    private func openings(on day: Int64) -> [Range<Int64>] {
        let weekday = CalendarDay.weekday(day)
        let chosen = ranges.filter { $0.days.contains(weekday) }
        guard !chosen.isEmpty else { return [] }
        let midnight = day * CalendarDay.seconds
        let spans = zone.spans(from: midnight - Self.reach, to: midnight + Self.reach)
        return chosen.compactMap { range in
            let begin = Self.first(showing: midnight + range.begin * Self.minute, in: spans)
            let end = Self.last(before: midnight + range.end * Self.minute, in: spans)
            return begin < end ? begin..<end : nil
        }.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// When clocks show that or more for the first time.
    private static func first(showing wall: Int64, in spans: [(begin: Int64, offset: Int)]) -> Int64 {
        for (index, span) in spans.enumerated() {
            let time = max(span.begin, wall - Int64(span.offset))
            if index + 1 == spans.count || time < spans[index + 1].begin { return time }
        }
        return wall
    }

    /// From when on they never show less.
    private static func last(before wall: Int64, in spans: [(begin: Int64, offset: Int)]) -> Int64 {
        var end: Int64?
        for span in spans.reversed() {
            let time = wall - Int64(span.offset)
            if time > span.begin { return min(time, end ?? time) }
            end = span.begin
        }
        return end ?? wall
    }

    private static func second(of time: Timestamp) -> Int64 { time.nanoseconds.floored(by: 1_000_000_000) }

    private static func timestamp(_ second: Int64) -> Timestamp { Timestamp(seconds: Int(second), nanoseconds: 0) }
}

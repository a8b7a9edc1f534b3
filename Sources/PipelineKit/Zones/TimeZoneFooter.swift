import Files

/// How a zone's clocks go by rules that repeat every year, such as `CET-1CEST,M3.5.0,M10.5.0/3`: the text that TZif
/// files end with (RFC 9636) and that POSIX has in TZ.
struct TimeZoneFooter: Sendable, Hashable {
    /// A day of each year, and when on it, in seconds of the clock that goes until then.
    struct Moment: Sendable, Hashable {
        enum Day: Sendable, Hashable {
            /// The n-th weekday of a month; the fifth is the last one.
            case weekday(month: Int64, week: Int64, day: Int64)
            /// From 1 to 365; 29 February is none.
            case julian(Int64)
            /// From 0 to 365.
            case ofYear(Int64)
        }

        let day: Day
        let time: Int64

        /// When it is in a year, in seconds of that clock since 1970.
        func second(of year: Int64) -> Int64 {
            let first = CalendarDay.number(year, 1, 1)
            let number: Int64
            switch day {
            case .julian(let day): number = first + day - 1 + (CalendarDay.isLeap(year) && day >= 60 ? 1 : 0)
            case .ofYear(let day): number = first + day
            case .weekday(let month, let week, let day):
                let begin = CalendarDay.number(year, month, 1)
                let end = month == 12 ? CalendarDay.number(year + 1, 1, 1) : CalendarDay.number(year, month + 1, 1)
                let ahead = (day - Int64(CalendarDay.weekday(begin)) + 7) % 7
                let wanted = begin + ahead + (week - 1) * 7
                number = wanted < end ? wanted : wanted - 7
            }
            return number * CalendarDay.seconds + time
        }
    }

    struct Summer: Sendable, Hashable {
        let offset: Int
        let begin: Moment, end: Moment
    }

    /// Seconds east of UTC.
    let offset: Int
    let summer: Summer?

    /// The changes of the years of these times, and of those around: when, and the offset from then on.
    func changes(from first: Int64, to last: Int64) -> [(at: Int64, offset: Int)] {
        guard let summer else { return [] }
        func year(_ second: Int64) -> Int64 { CalendarDay.date(second.floored(by: CalendarDay.seconds)).year }
        var changes: [(at: Int64, offset: Int)] = []
        for year in year(first) - 1...year(last) + 1 {
            changes.append((summer.end.second(of: year) - Int64(summer.offset), offset))
            changes.append((summer.begin.second(of: year) - Int64(offset), summer.offset))
        }
        // Where summer time ends as the next one begins, it goes on: the end comes first here.
        return changes.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    func offset(at second: Int64) -> Int {
        changes(from: second, to: second).last { $0.at <= second }?.offset ?? offset
    }
}

extension TimeZoneFooter {
    /// What TZ means where a summer time has no rule, as the C library takes it.
    private static let usual = ",M3.2.0,M11.1.0"

    /// Nil for other texts.
    init?(_ text: String) {
        guard text.utf8.count <= 200 else { return nil }
        var rest = text.utf8[...]
        guard Self.skipName(&rest), let west = Self.time(&rest, most: 24) else { return nil }
        offset = -Int(west)
        guard !rest.isEmpty else {
            summer = nil
            return
        }
        guard Self.skipName(&rest) else { return nil }
        var ahead = offset + 3600
        if let next = rest.first, next != UInt8(ascii: ",") {
            guard let west = Self.time(&rest, most: 24) else { return nil }
            ahead = -Int(west)
        }
        if rest.isEmpty { rest = Self.usual.utf8[...] }
        guard let begin = Self.moment(&rest), let end = Self.moment(&rest), rest.isEmpty else { return nil }
        summer = Summer(offset: ahead, begin: begin, end: end)
    }

    /// `CET` or `<+03>`.
    private static func skipName(_ rest: inout Substring.UTF8View) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        guard take("<", &rest) else {
            let name = rest.prefix(while: isLetter)
            rest = rest.dropFirst(name.count)
            return name.count >= 3
        }
        let name = rest.prefix {
            isLetter($0) || digit($0) != nil || [UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0)
        }
        rest = rest.dropFirst(name.count)
        return name.count >= 3 && take(">", &rest)
    }

    /// `,M3.5.0/2`
    private static func moment(_ rest: inout Substring.UTF8View) -> Moment? {
        guard take(",", &rest) else { return nil }
        let day: Moment.Day
        if take("M", &rest) {
            guard let month = number(&rest, 1...12), take(".", &rest), let week = number(&rest, 1...5),
                take(".", &rest), let weekday = number(&rest, 0...6)
            else { return nil }
            day = .weekday(month: month, week: week, day: weekday)
        } else if take("J", &rest) {
            guard let number = number(&rest, 1...365) else { return nil }
            day = .julian(number)
        } else {
            guard let number = number(&rest, 0...365) else { return nil }
            day = .ofYear(number)
        }
        guard take("/", &rest) else { return Moment(day: day, time: 2 * 3600) }
        return time(&rest, most: 167).map { Moment(day: day, time: $0) }
    }

    /// `-1`, `+02:30` or `1:2:3`, in seconds.
    private static func time(_ rest: inout Substring.UTF8View, most: Int64) -> Int64? {
        let isNegative = take("-", &rest)
        if !isNegative { _ = take("+", &rest) }
        guard var seconds = number(&rest, 0...most).map({ $0 * 3600 }) else { return nil }
        for unit: Int64 in [60, 1] where take(":", &rest) {
            guard let part = number(&rest, 0...59) else { return nil }
            seconds += part * unit
        }
        return isNegative ? -seconds : seconds
    }

    private static func number(_ rest: inout Substring.UTF8View, _ range: ClosedRange<Int64>) -> Int64? {
        let digits = rest.prefix { digit($0) != nil }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let number = digits.reduce(0) { $0 * 10 + (digit($1) ?? 0) }
        return range.contains(number) ? number : nil
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
    }

    private static func take(_ sign: Unicode.Scalar, _ rest: inout Substring.UTF8View) -> Bool {
        guard rest.first == UInt8(ascii: sign) else { return false }
        rest = rest.dropFirst()
        return true
    }
}

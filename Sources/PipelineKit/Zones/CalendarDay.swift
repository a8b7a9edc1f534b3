import Files

/// Days of the Gregorian calendar by number: 0 is 1970-01-01.
enum CalendarDay {
    /// Seconds of a day whose clocks are not set.
    static let seconds: Int64 = 86_400

    private static let era: Int64 = 146_097

    /// The number of a date. Years begin in March here, so that a leap day is the last one of its year.
    static func number(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let years = month > 2 ? year : year - 1
        let ofEra = years - years.floored(by: 400) * 400
        let ofYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return years.floored(by: 400) * era + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    static func date(_ number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = number + 719_468
        let ofEra = days - days.floored(by: era) * era
        let years = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * years + years / 4 - years / 100)
        let month = (5 * ofYear + 2) / 153
        let civil = month < 10 ? month + 3 : month - 9
        let year = years + days.floored(by: era) * 400 + (civil <= 2 ? 1 : 0)
        return (year, civil, ofYear - (153 * month + 2) / 5 + 1)
    }

    /// 0 is Sunday.
    static func weekday(_ number: Int64) -> Int { Int((number + 4) - (number + 4).floored(by: 7) * 7) }

    static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}

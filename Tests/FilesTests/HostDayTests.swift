import Testing

@testable import Files

/// Days of zones whose clocks are set, and what a host's zone is called.
@Suite struct HostDayTests {
    /// Berlin in 2026: an hour more from 29 March, 01:00 UTC, to 25 October, 01:00 UTC.
    private static func berlin(_ second: Int64) -> Int {
        (1_774_746_000..<1_792_890_000).contains(second) ? 7200 : 3600
    }

    /// Santiago in September 2026: its clocks go from midnight to 1 o'clock.
    private static func santiago(_ second: Int64) -> Int { second < 1_788_667_200 ? -14_400 : -10_800 }

    private func day(_ second: Int64, _ offset: (Int64) -> Int) -> HostDay {
        HostDay(of: Timestamp(seconds: Int(second), nanoseconds: 5), offset: offset)
    }

    @Test(arguments: [
        // 28 March 2026, 12:00 UTC; the next day has 23 hours.
        (1_774_699_200 as Int64, 1_774_652_400 as Int64, 24 as Int64), (1_774_785_600, 1_774_738_800, 23),
        // 25 October 2026, 12:00 UTC.
        (1_792_929_600, 1_792_879_200, 25),
    ]) func aDayHasAsManyHoursAsItsZoneGivesIt(second: Int64, begin: Int64, hours: Int64) {
        let day = day(second, Self.berlin)
        #expect(day.begin == begin && day.end - day.begin == hours * 3600, "\(day)")
        #expect(day.start == Timestamp(seconds: Int(begin), nanoseconds: 0))
        for second in [begin, second, day.end - 1] { #expect(self.day(second, Self.berlin) == day) }
        #expect(self.day(begin - 1, Self.berlin).end == begin && self.day(day.end, Self.berlin).begin == day.end)
    }

    @Test func aDayWithoutMidnightBeginsWithItsFirstHour() {
        let day = day(1_788_667_200 + 3600, Self.santiago)
        #expect(day.begin == 1_788_667_200 && day.end - day.begin == 23 * 3600, "\(day)")
    }

    @Test func daysFollowOneAnotherWithoutGaps() {
        for offset in [{ _ in 0 }, { _ in 20_700 }, { _ in -43_200 }, Self.berlin, Self.santiago] {
            var day = day(-86_400 * 3 + 1, offset)
            for _ in 0..<5 {
                #expect(day.contains(day.start) && !day.contains(Timestamp(seconds: Int(day.end), nanoseconds: 0)))
                let next = self.day(day.end, offset)
                #expect(next.begin == day.end)
                day = next
            }
        }
    }

    @Test func aZoneIsCalledAsTheDatabaseCallsIt() {
        func name(_ variable: String?, _ link: String?) -> String {
            HostZone.name(variable: variable, link: link, abbreviation: "CET")
        }
        #expect(name(nil, "/usr/share/zoneinfo/Europe/Berlin") == "Europe/Berlin")
        #expect(name(nil, "../usr/share/zoneinfo/Etc/UTC") == "Etc/UTC")
        #expect(name(":America/Lima", "/usr/share/zoneinfo/Europe/Berlin") == "America/Lima")
        #expect(name("/usr/share/zoneinfo/Asia/Tokyo", nil) == "Asia/Tokyo")
        #expect(name("", "/usr/share/zoneinfo/Europe/Berlin") == "UTC" && name(nil, nil) == "CET")
        #expect(name("CET-1CEST", nil) == "CET-1CEST" && name("/etc/zone", nil) == "CET")
        #expect(!HostZone.name.isEmpty && abs(HostZone.offset(at: 1_774_746_000)) <= 50_400)
    }
}

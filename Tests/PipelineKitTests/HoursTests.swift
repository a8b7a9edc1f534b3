import Files
import TestTools
import Testing

@testable import PipelineKit

/// When a pipeline is open, and until when.
@Suite struct HoursTests {
    private static func zone(_ text: String) throws -> TimeZoneRules {
        let footer: TimeZoneFooter = try #require(TimeZoneFooter(text))
        return TimeZoneRules(times: [], offsets: [], first: 0, footer: footer)
    }

    /// Its clocks go from 2 to 3 on the last Sunday of March, and from 3 to 2 on that of October.
    private static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    /// `2026-11-27 20:00`, as clocks show it that are so many hours ahead of UTC.
    private func time(_ text: String, ahead hours: Int64 = 0) throws -> Timestamp {
        let past = text.replacing(" ", with: "T") + "Z"
        let time = try #require(Timestamp(past: past), "\(text)")
        return Timestamp(nanoseconds: time.nanoseconds - hours * 3_600_000_000_000)
    }

    @Test(
        "Days and times are those of the zone's clocks",
        arguments: [
            // 27 November 2026 is a Friday, and Berlin is an hour ahead of UTC.
            (["Mon-Fri 20:00-06:00"], "2026-11-27 19:59", false, "Fri 20:00"),
            (["Mon-Fri 20:00-06:00"], "2026-11-27 20:00", true, "Sat 06:00"),
            (["Mon-Fri 20:00-06:00"], "2026-11-28 05:59", true, "Sat 06:00"),
            (["Mon-Fri 20:00-06:00"], "2026-11-28 06:00", false, "Mon 20:00"),
            // It belongs to the day on which it begins: nothing comes from Sunday.
            (["Mon-Fri 20:00-06:00"], "2026-11-30 05:00", false, "Mon 20:00"),
            (["Mon-Fri 20:00-06:00", "Sat,Sun"], "2026-11-27 21:00", true, "Mon 00:00"),
            (["Mon-Fri 20:00-06:00", "Sat,Sun"], "2026-11-29 23:59", true, "Mon 00:00"),
            (["Mon-Fri 20:00-06:00", "Sat,Sun"], "2026-11-30 00:00", false, "Mon 20:00"),
            // Ranges that touch or overlap are one; those of a day need no order.
            (["12:00-18:00", "06:00-12:00", "17:00-19:00"], "2026-11-27 07:00", true, "Fri 19:00"),
            (["12:00-18:00", "06:00-11:00"], "2026-11-27 11:30", false, "Fri 12:00"),
            (["Fri 22:00-24:00", "Sat 00:00-02:00"], "2026-11-27 23:00", true, "Sat 02:00"),
            (["Fri 20:00-00:00"], "2026-11-27 23:00", true, "Sat 00:00"),
            // Over the end of the week, in other letters, with spaces and another dash.
            (["fri - mon 9:00 – 17:00"], "2026-11-30 12:00", true, "Mon 17:00"),
            (["Fri-Mon 9:00-17:00"], "2026-12-01 12:00", false, "Fri 09:00"),
            (["Sat, Sun"], "2026-11-27 12:00", false, "Sat 00:00"),
            (["Wed 10:00-09:59"], "2026-12-03 09:58", true, "Thu 09:59"),
            (["Fri 10:00-11:00"], "2026-11-27 11:00", false, "2026-12-04 10:00"),
            (["Mon-Sun"], "2026-11-27 12:00", true, nil),
            (["00:00-12:00", "12:00-24:00"], "2026-11-27 12:00", true, nil),
            (["Mon-Fri", "Sat,Sun"], "2026-11-27 12:00", true, nil),
        ] as [([String], String, Bool, String?)])
    func weeks(_ texts: [String], _ now: String, _ isOpen: Bool, _ until: String?) throws {
        let hours = try Hours(texts, zone: try Self.zone(Self.berlin))
        let now = try time(now, ahead: 1)
        #expect(hours.isOpen(at: now) == isOpen)
        #expect(hours.nextChange(after: now).map { hours.text(of: $0, at: now) } == until)
        #expect(hours.texts == texts)
    }

    @Test(
        "A change to summer time opens and closes nothing twice",
        arguments: [
            // On 29 March 2026 there is no time from 02:00 to 03:00, and 03:00 is 01:00 UTC.
            ("01:00-02:30", "2026-03-29 00:00", "2026-03-29 01:00"),
            ("02:30-04:00", "2026-03-29 01:00", "2026-03-29 02:00"),
            ("00:00-06:00", "2026-03-28 23:00", "2026-03-29 04:00"),
            ("02:15-02:45", "2026-03-30 00:15", "2026-03-30 00:45"),
            // On 25 October 2026 the hour from 02:00 to 03:00 comes twice, at 00:00 and 01:00 UTC.
            ("01:00-02:30", "2026-10-24 23:00", "2026-10-25 01:30"),
            ("02:30-04:00", "2026-10-25 00:30", "2026-10-25 03:00"),
            ("02:15-02:45", "2026-10-25 00:15", "2026-10-25 01:45"),
            ("00:00-06:00", "2026-10-24 22:00", "2026-10-25 05:00"),
            ("22:00-02:30", "2026-10-24 20:00", "2026-10-25 01:30"),
        ])
    func summerTime(_ text: String, _ begin: String, _ end: String) throws {
        let hours = try Hours([text], zone: try Self.zone(Self.berlin))
        let (begin, end) = (try time(begin), try time(end))
        let before = Timestamp(nanoseconds: begin.nanoseconds - 1)
        #expect(!hours.isOpen(at: before) && hours.isOpen(at: begin))
        #expect(hours.isOpen(at: Timestamp(nanoseconds: end.nanoseconds - 1)) && !hours.isOpen(at: end))
        #expect(hours.nextChange(after: before) == begin && hours.nextChange(after: begin) == end)
    }

    @Test("A range that a change to summer time takes out comes a week later")
    func missingRange() throws {
        let hours = try Hours(["Sun 02:15-02:45"], zone: try Self.zone(Self.berlin))
        #expect(try hours.nextChange(after: time("2026-03-22 12:00")) == time("2026-04-05 00:15"))
    }

    @Test("A day that a zone leaves out opens nothing, and one that it has twice is one")
    func missingDay() throws {
        // Apia went to the other side of the date line at the end of 29 December 2011, which was a Thursday.
        let apia = TimeZoneRules(times: [1_325_239_200], offsets: [50_400], first: -36_000, footer: nil)
        let friday = try Hours(["Fri"], zone: apia)
        #expect(try friday.nextChange(after: time("2011-12-29 00:00")) == time("2012-01-05 10:00"))
        let saturday = try Hours(["Sat"], zone: apia)
        #expect(try saturday.nextChange(after: time("2011-12-29 00:00")) == time("2011-12-30 10:00"))
        let back = TimeZoneRules(times: [1_325_239_200], offsets: [-36_000], first: 50_400, footer: nil)
        let twice = try Hours(["Fri"], zone: back)
        let begin = try #require(try twice.nextChange(after: time("2011-12-28 00:00")))
        #expect(try begin == time("2011-12-29 10:00") && twice.nextChange(after: begin) == time("2011-12-31 10:00"))
    }

    @Test("What is said of a time does not depend on what was said of another")
    func clockJumps() throws {
        let hours = try Hours(["Mon-Fri 08:00-18:00"], zone: .utc)
        for now in ["2026-11-27 12:00", "1700-01-04 12:00", "2026-11-27 12:00", "2199-01-04 12:00"] {
            guard let now = Timestamp(past: now.replacing(" ", with: "T") + "Z") else { continue }
            #expect(hours.isOpen(at: now))
        }
        for edge in [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max), Timestamp(nanoseconds: 0)] {
            _ = (hours.isOpen(at: edge), hours.nextChange(after: edge), hours.text(of: edge, at: edge))
        }
    }

    /// Steps through weeks around changes of the clocks, minute by minute.
    @Test(
        "The next change is the next time at which it is open or not",
        arguments: [
            "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "IST-1GMT0,M10.5.0,M3.5.0/1", "UTC0",
            "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "XXX3EDT4,0/0,J365/23",
        ])
    func agreement(_ footer: String) throws {
        let zone = try Self.zone(footer)
        var random = SeededGenerator(seed: 21)
        for _ in 0..<12 {
            let texts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                let days = ["", "Mon-Fri ", "Sat,Sun ", "Sun ", "Fri-Mon "].randomElement(using: &random) ?? ""
                func clock() -> String {
                    let minutes = Int.random(in: 0..<96, using: &random) * 15
                    return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
                }
                return "\(days)\(clock())-\(clock())"
            }
            guard let hours = try? Hours(texts, zone: zone) else { continue }
            for start in ["2026-03-25 00:00", "2026-10-21 00:00", "2026-04-01 00:00"] {
                let begin = try time(start)
                var (now, isOpen) = (begin, hours.isOpen(at: begin))
                var next = hours.nextChange(after: begin)
                for minute in 1...(9 * 24 * 12) {
                    now = Timestamp(nanoseconds: begin.nanoseconds + Int64(minute) * 300_000_000_000)
                    let changes = next == now
                    #expect(hours.isOpen(at: now) == (changes ? !isOpen : isOpen), "\(texts) at \(now.iso8601)")
                    guard changes else { continue }
                    isOpen.toggle()
                    next = hours.nextChange(after: now)
                }
            }
        }
    }

    @Test(
        "What makes no sense is refused with what would",
        arguments: [
            ("Mon-Fry 9-5", "'Fry' is no day of the week; did you mean 'Fri'?"),
            ("Mon-Fri 9-5", "'9-5' is no range of times; write one such as 09:00-17:00"),
            ("Mon 20:00-25:00", "'25:00' is no time of day; write one from 00:00 to 24:00"),
            ("Mon 20:00-24:01", "'24:01' is no time of day; write one from 00:00 to 24:00"),
            ("20:0-21:00", "'20:0' is no time of day; write one from 00:00 to 24:00"),
            ("09:00-09:00", "'09:00-09:00' is empty: it ends as it begins; write 00:00-24:00 for the whole day"),
            ("24:00-06:00", "'24:00-06:00' begins at 24:00; write 00:00 of the next day"),
            ("Mon-Wed-Fri", "'Mon-Wed-Fri' is no range of days; write one such as Mon-Fri"),
            ("Mon,,Fri", "'' is no day of the week; write Mon, Tue, Wed, Thu, Fri, Sat or Sun"),
            ("", "'' is no days and times; write such as 'Mon-Fri 20:00-06:00'"),
            (
                "Mon 08:00-09:00 10:00-11:00",
                "'Mon 08:00-09:00 10:00-11:00' is no days and times; write such as 'Mon-Fri 20:00-06:00'"
            ),
            ("20:00-21:00 Mon", "'20:00-21:00' is no day of the week; write Mon, Tue, Wed, Thu, Fri, Sat or Sun"),
            ("Mon ٢٠:00-21:00", "'٢٠:00' is no time of day; write one from 00:00 to 24:00"),
            ("Mon 20:00-21:00-22:00", "'20:00-21:00-22:00' is no range of times; write one such as 09:00-17:00"),
        ])
    func refusals(_ text: String, _ message: String) {
        #expect(throws: HoursProblem(message, entry: 1)) { try Hours(["Mon", text], zone: .utc) }
    }

    @Test("A list may be neither empty nor endless")
    func lists() {
        #expect(throws: HoursProblem.self) { try Hours([], zone: .utc) }
        #expect(throws: HoursProblem.self) { try Hours(Array(repeating: "Mon", count: 101), zone: .utc) }
    }
}

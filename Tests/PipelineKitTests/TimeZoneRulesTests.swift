import Files
import Glibc
import SystemPackage
import TestSupport
import TestTools
import Testing

@testable import PipelineKit

/// How zones' clocks go, beside what the C library makes of the same files.
@Suite struct TimeZoneRulesTests {
    /// Zones with whatever is rare: no summer time, one in the south, one that goes back, other half hours and steps,
    /// changes before midnight, of days, and that follow the moon.
    private static let names = [
        "UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Nuuk",
        "America/Santiago", "America/Sao_Paulo", "Asia/Tokyo", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tehran",
        "Asia/Gaza", "Asia/Jerusalem", "Africa/Casablanca", "Africa/El_Aaiun", "Africa/Monrovia", "Pacific/Apia",
        "Pacific/Chatham", "Pacific/Kiritimati", "Australia/Lord_Howe", "Australia/Sydney", "Antarctica/Troll",
        "Pacific/Kwajalein", "Asia/Manila", "Etc/GMT+12", "EST5EDT", "Europe/Lisbon",
    ]

    /// What the C library has: of date(1), since TZ is a whole process's.
    private func offsets(in zone: String, at times: [Int64]) throws -> [Int] {
        let scratch = try ScratchFolder()
        let file = try scratch.write(times.map { "@\($0)\n" }.joined(), to: "times")
        let told = try Tool("/usr/bin/env").run(["TZ=\(zone)", "date", "-f", file.string, "+%::z"]).text
        return try told.split(separator: "\n").map { line in
            let parts = try line.dropFirst().split(separator: ":").map { try #require(Int($0), "\(line)") }
            return parts.reduce(0) { $0 * 60 + $1 } * (line.first == "-" ? -1 : 1)
        }
    }

    /// From that time to 2260, and around the changes from 1960 to 2100.
    private func compare(_ rules: TimeZoneRules, with zone: String, from first: Int64 = -5_364_662_400) throws {
        var random = SeededGenerator(seed: 9536)
        var times = (0..<400).map { _ in Int64.random(in: first...9_151_488_000, using: &random) }
        for span in rules.spans(from: max(first, -315_619_200), to: 4_102_444_800).dropFirst() {
            times += [-3601, -1, 0, 1, 3600].map { span.begin + $0 }
        }
        let told = try offsets(in: zone, at: times)
        #expect(told.count == times.count)
        let wrong = zip(times, told).filter { rules.offset(at: $0) != $1 }
        #expect(wrong.isEmpty, "\(zone): \(wrong.prefix(3)) of \(times.count)")
    }

    @Test("Offsets are those of the C library", arguments: Self.names)
    func offsets(_ name: String) throws { try compare(try TimeZoneRules.named(name), with: name) }

    @Test(
        "Rules without a file are understood as the C library does",
        arguments: [
            "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "EST5EDT,M3.2.0,M11.1.0",
            "EST5", "<-03>3", "IST-1GMT0,M10.5.0,M3.5.0/1", "AAA1:2:3BBB,J60/3,J300/-1", "AAA-3BBB,59/5,300",
        ])
    func rules(_ text: String) throws {
        // Before 1970 the C library knows no rules.
        try compare(TimeZoneRules.ofHost(variable: text), with: text, from: 86_400)
    }

    @Test("Spans are where the offset changes, with and without rules", arguments: Self.names)
    func spans(_ name: String) throws {
        let rules = try TimeZoneRules.named(name)
        var last: (begin: Int64, offset: Int)?
        for span in rules.spans(from: 1_700_000_000, to: 4_500_000_000) {
            #expect(rules.offset(at: span.begin) == span.offset)
            if let last {
                #expect(last.begin < span.begin && rules.offset(at: span.begin - 1) == last.offset, "\(span)")
            }
            last = span
        }
    }

    @Test("The day of a date is the calendar's")
    func calendar() {
        for number in stride(from: Int64(-700_000), to: 700_000, by: 37) {
            var (time, parts) = (time_t(number * 86_400), tm())
            gmtime_r(&time, &parts)
            let date = CalendarDay.date(number)
            #expect(date.year == Int64(parts.tm_year) + 1900 && date.month == Int64(parts.tm_mon) + 1)
            #expect(date.day == Int64(parts.tm_mday) && CalendarDay.weekday(number) == Int(parts.tm_wday))
            #expect(CalendarDay.number(date.year, date.month, date.day) == number)
        }
    }

    @Test("A zone that is not there is named, with one that is")
    func unknown() throws {
        func problem(_ name: String, in folder: FilePath = TimeZoneRules.database) -> String {
            do throws(TimeZoneProblem) {
                return "\(try TimeZoneRules.named(name, in: folder).offset(at: 0))"
            } catch {
                return error.message
            }
        }
        #expect(problem("Europe/Berln") == "there is no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?")
        #expect(problem("Mars/Base").hasSuffix("; write one as 'timedatectl list-timezones' lists them"))
        #expect(problem("Europe").hasPrefix("there is no time zone 'Europe'"))
        for name in ["", "/etc/passwd", "../../../etc/passwd", "Europe/", "Europe/Berlin\0", "Zürich"] {
            #expect(problem(name).hasSuffix("is no time zone; write its name, such as Europe/Berlin or UTC"), "\(name)")
        }
        #expect(problem("zone.tab").contains("is no time zone"))
        let scratch = try ScratchFolder()
        let none = scratch.path("none")
        #expect(
            problem("Europe/Berlin", in: none).hasSuffix("'\(none.text)'; install 'tzdata'")
                && problem("UTC", in: none) == "0")
        try scratch.write("TZif", to: "Broken")
        #expect(problem("Broken", in: scratch.path).contains("Broken': it ends early; install 'tzdata' anew"))
        try scratch.write("hello", to: "Text")
        #expect(problem("Text", in: scratch.path).contains("it is no file of the time zone database"))
        let right = problem("right/UTC")
        #expect(right.contains("it counts leap seconds") || right.hasPrefix("there is no time zone"), "\(right)")
    }

    @Test("The host's zone is what TZ says, else what /etc/localtime is")
    func host() throws {
        let berlin = try TimeZoneRules.named("Europe/Berlin")
        let file = TimeZoneRules.database.appending("Europe/Berlin")
        #expect(TimeZoneRules.ofHost(variable: nil, localtime: file) == berlin)
        #expect(TimeZoneRules.ofHost(variable: ":Europe/Berlin") == berlin)
        #expect(TimeZoneRules.ofHost(variable: file.string) == berlin)
        for none in ["", "Nowhere", "/nowhere"] { #expect(TimeZoneRules.ofHost(variable: none) == .utc) }
        #expect(TimeZoneRules.ofHost(variable: nil, localtime: "/nowhere") == .utc)
    }

    @Test("Whatever is in a file, it is read or refused", arguments: ["Europe/Berlin", "Asia/Gaza", "UTC"])
    func broken(_ name: String) throws {
        let whole = try ScratchFolder.read(TimeZoneRules.database.appending(name))
        var random = SeededGenerator(seed: 6)
        func use(_ bytes: [UInt8]) {
            guard let rules = try? TimeZoneRules(tzif: bytes) else { return }
            for second in [.min, -1 << 40, 0, 1_800_000_000, 1 << 40, Int64.max] { _ = rules.offset(at: second) }
            _ = rules.spans(from: 1_800_000_000, to: 1_900_000_000)
            if let hours = try? Hours(["Mon-Fri 20:00-06:00"], zone: rules) {
                _ = hours.nextChange(after: Timestamp(seconds: 1_800_000_000, nanoseconds: 0))
            }
        }
        for count in 0..<whole.count { use(Array(whole.prefix(count))) }
        #expect(throws: TimeZoneProblem.self) { try TimeZoneRules(tzif: Array(whole.dropLast())) }
        for _ in 0..<4000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] =
                    [0, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            use(bytes)
        }
    }

    @Test(
        "Texts that are no rule are none",
        arguments: [
            "", "CE-1", "CET", "CET-25", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
            "CET-1CEST,J0,J5", "CET-1CEST,366,5", "CET-1CEST,M3.5.0/168,M10.5.0", "<CET-1", "<+0>-1", "CET-1 ",
            "CET-1CEST,M3.5.0,M10.5.0/3,", "CET-99999999999999999999", "CET--1",
        ])
    func noRules(_ text: String) { #expect(TimeZoneFooter(text) == nil) }
}

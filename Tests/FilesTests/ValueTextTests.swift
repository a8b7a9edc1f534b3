import Files
import Platform
import Testing

@Suite struct ByteSizeTests {
    @Test(
        arguments: [
            ("0", 0), ("512", 512), ("17B", 17), ("64KiB", 65536), ("10 MiB", 10 << 20), ("1.5GiB", 3 << 29),
            ("2GB", 2_000_000_000), ("3kB", 3000), ("1TiB", 1 << 40), ("7EiB", nil), ("", nil), ("MiB", nil),
            ("-1", nil), ("+1", nil), ("1e3", nil), ("1.", nil), (".5", nil), ("1.2.3", nil), ("10mib", nil),
            ("1 0", nil), ("99999999999TiB", nil), ("٣", nil),
        ] as [(String, Int64?)])
    func readsText(_ text: String, _ expected: Int64?) {
        #expect(ByteSize(text)?.bytes == expected)
    }

    @Test(
        arguments: [
            (0, "0 B"), (17, "17 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (102400, "100 KiB"),
            (4 << 20, "4.0 MiB"), (3 << 29, "1.5 GiB"), (1 << 40, "1.0 TiB"), (.max, "8388608 TiB"), (-5, "0 B"),
        ] as [(Int64, String)])
    func showsForPeople(_ bytes: Int64, _ expected: String) {
        #expect(ByteSize(bytes: bytes).description == expected)
    }

    @Test func orders() {
        #expect(ByteSize(bytes: 1) < ByteSize(bytes: 2))
    }
}

@Suite struct DurationTextTests {
    @Test(
        arguments: [
            ("250ms", 250_000_000), ("1s", 1_000_000_000), ("1.5s", 1_500_000_000), ("15m", 900_000_000_000),
            ("24h", 86_400_000_000_000), ("90d", 7_776_000_000_000_000), ("0", 0), ("0s", 0), ("2 s", 2_000_000_000),
            ("1", nil), ("", nil), ("s", nil), ("-1s", nil), ("1 sec", nil), ("1m30s", nil), ("1S", nil),
            ("200000d", nil), ("99999999999999999999h", nil),
        ] as [(String, Int64?)])
    func readsText(_ text: String, _ expected: Int64?) {
        #expect(Duration(configured: text)?.nanoseconds == expected)
    }

    @Test func theLongestThatIsReadCanBeCountedWith() throws {
        let longest = try #require(Duration(configured: "36500d"))
        #expect((longest + longest).nanoseconds > 0)
    }

    @Test(
        arguments: [
            (.zero, "0 ms"), (.milliseconds(12), "12 ms"), (.microseconds(99_400), "99 ms"),
            (.milliseconds(100), "0.1 s"),
            (.milliseconds(1240), "1.2 s"), (.milliseconds(59_940), "59.9 s"), (.milliseconds(59_960), "1 min"),
            (.seconds(200), "3 min 20 s"), (.seconds(3600), "1 h"), (.seconds(7500), "2 h 5 min"),
            (.seconds(4 * 86400 + 3 * 3600), "4 d 3 h"),
        ] as [(Duration, String)])
    func showsForPeople(_ duration: Duration, _ expected: String) {
        #expect(duration.text == expected)
    }
}

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_772_368_200_250_000_000, "2026-03-01T12:30:00.250Z"),
            (1_000_000, "1970-01-01T00:00:00.001Z"),
            (999_999, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (-1_000_000_000, "1969-12-31T23:59:59.000Z"),
            (-1_500_000_000, "1969-12-31T23:59:58.500Z"),
        ] as [(Int64, String)])
    func writesUTC(_ nanoseconds: Int64, _ expected: String) {
        #expect(Timestamp(nanoseconds: nanoseconds).iso8601 == expected)
    }

    /// A file's times are whatever somebody set them to.
    @Test func takesTimesBeyondItsRange() {
        let far = Timestamp(seconds: 32_503_680_000, nanoseconds: 5)
        let old = Timestamp(seconds: -32_503_680_000, nanoseconds: 5)
        #expect(far.nanoseconds == .max)
        #expect(old.nanoseconds == .min)
        #expect(Timestamp(seconds: .max, nanoseconds: 999_999_999).nanoseconds == .max)
        #expect(far.iso8601.hasPrefix("2262-"))
        #expect(old.iso8601.hasPrefix("1677-"))
        #expect(far - old > .zero)
    }

    @Test func countsInBothDirections() {
        let early = Timestamp(seconds: 10, nanoseconds: 0)
        let late = Timestamp(seconds: 12, nanoseconds: 500_000_000)
        #expect(late - early == .milliseconds(2500))
        #expect(early - late == .milliseconds(-2500))
        #expect(early < late)
        #expect(late.milliseconds == 12_500)
    }

    @Test func formats() {
        let time = Timestamp(seconds: 1_772_368_200, nanoseconds: 0)
        #expect(time.formatted("%Y/%m/%d", utc: true) == "2026/03/01")
        #expect(time.formatted("", utc: true) == "")
        #expect(time.formatted(String(repeating: "%Y", count: 1000), utc: true) == "")
    }

    @Test func nowIsThePresent() {
        let before = time(nil)
        let now = Timestamp.now()
        #expect(now.milliseconds / 1000 >= Int64(before))
        #expect(now - Timestamp(seconds: before, nanoseconds: 0) < .seconds(60))
    }
}

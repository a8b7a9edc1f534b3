import Files
import Journal
import Testing

@testable import Notifications

@Suite struct QuietTests {
    private let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    private func at(_ hours: Int) -> Timestamp { start.advanced(by: .seconds(hours * 3600)) }

    @Test func itCountsFromTheLastThatWasProcessed() {
        var quiet = Quiet(processed: 5, since: at(0))
        quiet.observe(5, end: nil, at: at(20))
        #expect(!quiet.isQuiet(for: .seconds(26 * 3600), at: at(25)))
        #expect(quiet.isQuiet(for: .seconds(26 * 3600), at: at(26)))
        quiet.observe(6, end: nil, at: at(27))
        #expect(!quiet.isQuiet(for: .seconds(26 * 3600), at: at(52)))
        #expect(quiet.isQuiet(for: .seconds(26 * 3600), at: at(53)))
    }

    @Test func whatCameBetweenTwoRunsCountsFromWhenItWasOver() {
        var quiet = Quiet(processed: 5, since: at(0))
        quiet.observe(7, end: at(3), at: at(10))
        #expect(quiet.since == at(3))
    }

    @Test func aClockThatWasSetBackMakesItBeginAnew() {
        var quiet = Quiet(processed: 5, since: at(100))
        quiet.observe(5, end: nil, at: at(0))
        #expect(quiet.since == at(0) && quiet.isQuiet(for: .seconds(3600), at: at(1)))
    }

    @Test func itIsWrittenDownAndRead() throws {
        let quiet = Quiet(processed: .max, since: at(1))
        #expect(Quiet(try #require(JSONValue(quiet.json))) == quiet)
        #expect(Quiet(.null) == nil)
    }
}

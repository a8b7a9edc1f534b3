import Files
import Testing

@testable import Notifications

@Suite struct BackOffTests {
    private let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    @Test(arguments: [(1, 10), (2, 20), (3, 40), (6, 320), (7, 640), (8, 900), (60, 900), (Int.max, 900), (0, 10)])
    func pausesDoubleUpToALimit(tries: Int, seconds: Int) {
        #expect(BackOff.pause(after: tries) == .seconds(seconds))
    }

    @Test func whoAsksToBeLeftAloneIs() {
        #expect(BackOff.pause(after: 1, asked: .seconds(120)) == .seconds(120))
        #expect(BackOff.pause(after: 8, asked: .seconds(120)) == .seconds(900))
        #expect(BackOff.pause(after: 1, asked: .seconds(1_000_000)) == .seconds(3600))
    }

    @Test func afterADayItIsGivenUp() {
        #expect(!BackOff.isOver(since: start, at: start.advanced(by: .seconds(86_399))))
        #expect(BackOff.isOver(since: start, at: start.advanced(by: .seconds(86_400))))
        #expect(!BackOff.isOver(since: start, at: start.advanced(by: .seconds(-86_400))), "the clock was set back")
    }

    @Test func aClockThatWasSetBackHoldsNothingUp() {
        #expect(!BackOff.hasCome(start.advanced(by: .seconds(900)), at: start))
        #expect(BackOff.hasCome(start, at: start))
        #expect(BackOff.hasCome(start.advanced(by: .seconds(86_400)), at: start))
    }
}

import Testing

@testable import Notifications

@Suite struct LowSpaceTests {
    @Test(arguments: [
        (2000, false, false), (1999, false, true), (1999, true, true), (2249, true, true), (2250, true, false),
        (0, false, true),
    ])
    func twiceTheFloorIsLow(free: UInt64, wasLow: Bool, isLow: Bool) {
        #expect(LowSpace.isLow(free: free, floor: 1000, wasLow: wasLow) == isLow)
    }

    @Test func aFloorBeyondAllNumbersIsLow() {
        #expect(LowSpace.isLow(free: .max - 1, floor: .max, wasLow: true))
        #expect(!LowSpace.isLow(free: 0, floor: 0, wasLow: false))
    }
}

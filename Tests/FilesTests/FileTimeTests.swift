import Files
import Testing

@Suite("Numbers that a file system claims") struct FileTimeTests {
    @Test(
        "Any second is a time; what a timestamp cannot say becomes the nearest that it can",
        arguments: [
            (Int(1) << 33, Timestamp(nanoseconds: (1 << 33) * 1_000_000_000 + 5)),
            (1 << 34, Timestamp(nanoseconds: .max)), (1 << 62, Timestamp(nanoseconds: .max)),
            (.max, Timestamp(nanoseconds: .max)), (-(1 << 62), Timestamp(nanoseconds: .min)),
            (.min, Timestamp(nanoseconds: .min)), (-1, Timestamp(nanoseconds: -999_999_995)),
        ])
    func times(seconds: Int, timestamp: Timestamp) {
        let time = FileTime(seconds: seconds, nanoseconds: 5)
        #expect(Timestamp(time) == timestamp)
        #expect(!timestamp.iso8601.isEmpty)
        #expect((timestamp - Timestamp(nanoseconds: 1)).nanoseconds != 0)
    }

    @Test("Times are in the order of their seconds, then of their nanoseconds")
    func order() {
        let times = [
            FileTime.distantPast, FileTime(seconds: -1, nanoseconds: 999_999_999), FileTime(seconds: 0),
            FileTime(seconds: 0, nanoseconds: 1), FileTime(seconds: .max),
        ]
        #expect(times.shuffled().sorted() == times)
        #expect(FileTime(seconds: 1, nanoseconds: -1) == FileTime(seconds: 1))
    }

    @Test("Sums, products and whole parts end at the largest number that there is")
    func saturates() {
        #expect(Int64.max.addingSaturated(1) == .max)
        #expect(Int64.min.addingSaturated(-1) == .min)
        #expect(Int64(2).addingSaturated(3) == 5)
        #expect(UInt64.max.multipliedSaturated(by: 2) == .max)
        #expect(Int64.max.multipliedSaturated(by: -2) == .min)
        #expect([Int64.max, .max, 1].saturatedSum == .max)
        #expect([Int64]().saturatedSum == 0)
        #expect(Int64(saturating: 9.3e18) == .max)
        #expect(Int64(saturating: -.infinity) == .min)
        #expect(Int64(saturating: .nan) == 0)
        #expect(Int64(saturating: 2.9) == 2)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    }
}

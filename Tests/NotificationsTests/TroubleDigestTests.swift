import Files
import Testing

@testable import Notifications

@Suite struct TroubleDigestTests {
    private let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    private let digest = Duration.seconds(300)

    private func at(_ seconds: Int) -> Timestamp { start.advanced(by: .seconds(seconds)) }

    @Test func theFirstIsToldAtOnceAndItsEndWithTheDigest() {
        var trouble = TroubleDigest()
        #expect(trouble.news(.both, digest, at: at(0)) == nil)
        trouble.begin("full", at: at(0))
        #expect(trouble.news(.both, digest, at: at(0)) == .begun(times: 1))
        trouble.tell(.begun(times: 1), at: at(0))
        trouble.begin("full", at: at(1))
        #expect(trouble.news(.both, digest, at: at(1000)) == nil, "it only goes on")
        trouble.end()
        #expect(trouble.news(.both, digest, at: at(299)) == nil && trouble.next(.both, digest, at: at(2)) == at(300))
        #expect(trouble.news(.both, digest, at: at(300)) == .over(times: 0))
        trouble.tell(.over(times: 0), at: at(300))
        #expect(trouble.next(.both, digest, at: at(301)) == nil)
    }

    @Test func whatComesAndGoesIsToldOnceADigest() {
        var trouble = TroubleDigest()
        trouble.begin("full", at: at(0))
        trouble.tell(.begun(times: 1), at: at(0))
        trouble.end()
        trouble.tell(.over(times: 0), at: at(310))
        for second in 311..<400 {
            trouble.begin("full", at: at(second))
            trouble.end()
        }
        #expect(trouble.news(.both, digest, at: at(609)) == nil && trouble.next(.both, digest, at: at(399)) == at(610))
        #expect(trouble.news(.both, digest, at: at(610)) == .passed(times: 89))
        trouble.begin("full", at: at(611))
        #expect(trouble.news(.both, digest, at: at(611)) == .begun(times: 90))
    }

    @Test func aRuleForEndsAloneTellsThem() {
        var trouble = TroubleDigest()
        trouble.begin("full", at: at(0))
        #expect(trouble.news(.endsAlone, digest, at: at(0)) == nil)
        trouble.end()
        #expect(trouble.news(.endsAlone, digest, at: at(5)) == .over(times: 0))
        trouble.tell(.over(times: 0), at: at(5))
        #expect(trouble.next(.endsAlone, digest, at: at(6)) == nil)
    }

    @Test func whatWasGivenUpIsToldAgain() {
        var trouble = TroubleDigest()
        trouble.begin("full", at: at(0))
        trouble.tell(.begun(times: 1), at: at(0))
        trouble.gaveUp(isEnd: false)
        #expect(trouble.news(.both, digest, at: at(86_400)) == .begun(times: 1))
        trouble.end()
        #expect(trouble.news(.both, digest, at: at(86_400)) == .passed(times: 1))
    }

    @Test func aClockThatWasSetBackHoldsNothingUp() {
        var trouble = TroubleDigest()
        trouble.begin("full", at: at(0))
        trouble.tell(.begun(times: 1), at: at(0))
        trouble.end()
        trouble.tell(.over(times: 0), at: at(1))
        trouble.begin("full", at: at(-80_000))
        #expect(trouble.news(.both, digest, at: at(-80_000)) == .begun(times: 1))
    }

    /// Whatever happens: no more than one message in a digest, and in the end people know how it is.
    @Test(arguments: 0..<100) func anyCourseIsToldRightly(seed: UInt64) {
        var random = Generator(seed)
        var trouble = TroubleDigest()
        var told: [Int] = []
        var now = 0
        func turn() {
            guard let news = trouble.news(.both, digest, at: at(now)) else { return }
            told.append(now)
            trouble.tell(news, at: at(now))
            trouble = TroubleDigest(json: trouble.json) ?? TroubleDigest()
        }
        for _ in 0..<300 {
            now += Int.random(in: 0...60, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: trouble.begin("full", at: at(now))
            case 1: trouble.end()
            default: turn()
            }
        }
        for _ in 0..<3 {
            now += 300
            turn()
        }
        #expect(zip(told, told.dropFirst()).allSatisfy { $1 - $0 >= 300 })
        #expect(trouble.isTold == trouble.isThere)
        #expect(trouble.next(.both, digest, at: at(now)) == nil)
    }
}

/// The same numbers for the same seed (splitmix64).
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

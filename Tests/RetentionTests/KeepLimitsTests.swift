import Files
import PipelineKit
import SystemPackage
import Testing

@testable import Journal
@testable import Retention

/// Which originals go, and why.
@Suite struct KeepLimitsTests {
    private static let now = Timestamp(seconds: 1_795_000_000, nanoseconds: 0)
    private static let day = Duration.seconds(86_400)

    private func file(_ age: Duration) -> KeptFile {
        KeptFile(
            .first(at: Self.now.before(age)), since: Self.now.before(age), bytes: 10, path: "/done/a",
            OriginalState(FileState(inode: 1, size: 10, modified: FileTime(seconds: 1))))
    }

    private func rule(
        _ limits: KeepRule.Limits, _ file: KeptFile, files: Int = 1, bytes: Int64 = 10, isDoubtful: Bool = false,
        isShort: Bool = false
    ) -> String? {
        KeepLimits(limits, at: Self.now, isClockDoubtful: isDoubtful)
            .rule(for: file, of: KeptStanding(files: files, bytes: bytes)) { isShort }
    }

    @Test func whatIsOlderGoes() {
        let limits = KeepRule.Limits(age: Self.day * 90)
        #expect(rule(limits, file(Self.day * 91)) == "age 90 d")
        #expect(rule(limits, file(Self.day * 89)) == nil)
        #expect(rule(limits, file(Self.day * 90)) == nil, "not before its time")
    }

    @Test func aClockThatMayBeWrongTakesNothing() {
        let limits = KeepRule.Limits(age: Self.day * 90)
        #expect(rule(limits, file(Self.day * 91), isDoubtful: true) == nil)
        let bounded = KeepRule.Limits(age: Self.day * 90, files: 3)
        #expect(rule(bounded, file(Self.day), files: 4, isDoubtful: true) == "files 3", "no clock says this")
    }

    @Test func theOldestGoesWhereThereAreMore() {
        let limits = KeepRule.Limits(bytes: ByteSize(bytes: 1000), files: 3)
        #expect(rule(limits, file(.seconds(1)), files: 3, bytes: 1000) == nil)
        #expect(rule(limits, file(.seconds(1)), files: 4, bytes: 10) == "files 3")
        #expect(rule(limits, file(.seconds(1)), files: 1, bytes: 1001) == "bytes 1000 B")
    }

    @Test func shortSpaceTakesNoneOfTheLastHour() {
        let limits = KeepRule.Limits(age: Self.day)
        #expect(rule(limits, file(.seconds(3601)), isShort: true) == "when_short")
        #expect(rule(limits, file(.seconds(3599)), isShort: true) == nil)
        #expect(rule(limits, file(.seconds(3601)), isDoubtful: true, isShort: true) == nil)
        #expect(rule(limits, file(.seconds(3601))) == nil)
    }

    /// Whatever the numbers: what goes is over a limit, and what stays is under all.
    @Test func holdsForAll() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
            let limits = KeepRule.Limits(
                age: maybe(.seconds(Int64.random(in: 1...1000))), bytes: maybe(ByteSize(bytes: .random(in: 1...1000))),
                files: maybe(.random(in: 1...1000)))
            let age = Int64.random(in: 0...2000)
            let (files, bytes) = (Int.random(in: 0...2000), Int64.random(in: 0...2000))
            let isOver =
                limits.age.map { .seconds(age) > $0 } ?? false || limits.bytes.map { bytes > $0.bytes } ?? false
                || limits.files.map { files > $0 } ?? false
            let found = rule(limits, file(.seconds(age)), files: files, bytes: bytes)
            #expect((found != nil) == isOver, "\(limits), \(age) s, \(files), \(bytes)")
        }
    }
}

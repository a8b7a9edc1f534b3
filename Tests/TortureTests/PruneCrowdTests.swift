import Files
import Glibc
import Journal
import Retention
import SQLiteJournal
import SystemPackage
import TestSupport
import Testing

@testable import PipelineKit

extension Torture {
    /// Very many originals, among which others have done what they liked: brought under each limit, the oldest first,
    /// and nothing of anybody else is removed.
    @Suite("A crowd of originals") struct PruneCrowdTests {
        /// `DROPMILL_CROWD` for more.
        private static let count =
            getenv("DROPMILL_CROWD").flatMap { Int(String(cString: $0)) } ?? (isLong ? 20_000 : 500)

        @Test func goesUnderItsLimits() throws {
            let clock = ContinuousClock()
            let began = clock.now
            var crowd = try PruneCrowd(of: Self.count)
            let made = clock.now
            let age = try crowd.prune(KeepRule.Limits(age: .seconds(Self.count - Self.count / 3)))
            #expect(age == crowd.intact(before: Self.count / 3))
            crowd.leaveOut(age)
            #expect(try crowd.losses() == [])

            let most = Self.count / 2
            let excess = try crowd.prune(KeepRule.Limits(files: most))
            #expect(try !excess.isEmpty && crowd.counted.files == most)
            #expect(excess == crowd.intact(excess.count))
            crowd.leaveOut(excess)
            #expect(try crowd.losses() == [])

            let bytes = try crowd.counted.bytes / 2
            let large = try crowd.prune(KeepRule.Limits(bytes: ByteSize(bytes: bytes)))
            let left = try crowd.counted.bytes
            #expect(left <= bytes && left + crowd.size(of: large.last) > bytes, "\(left) of \(bytes) bytes")
            #expect(large == crowd.intact(large.count))
            crowd.leaveOut(large)
            #expect(try crowd.losses() == [])

            let rest = try crowd.prune(KeepRule.Limits(age: .milliseconds(1)))
            #expect(rest == crowd.intact(before: Self.count))
            crowd.leaveOut(rest)
            #expect(try crowd.losses() == [])
            #expect(try crowd.standing.files == crowd.linked)
            #expect(try (crowd.standing.changed, crowd.gone) == crowd.expected)
            let removed = age.count + excess.count + large.count + rest.count
            Torture.say(
                "\(removed) of \(Self.count) originals removed in \(clock.now - made), \(made - began) to make them")
        }
    }
}

import Files
import Glibc
import PipelineKit
import PostgresJournal
import SystemPackage
import TestSupport
import TestTools
import Testing

@testable import Journal
@testable import Retention

/// Removes what is as it was left, and nothing else.
@Suite struct OriginalsKeeperTests {
    typealias Kind = KeptGround.Kind
    private static let hour = KeepRule.Limits(age: .seconds(3600))

    @Test(arguments: Kind.allCases) func theOldestGoFirst(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        for number in 1...60 { try ground.leaveFile("\(number)", minutes: number * 2, sides: ["\(number).sha256"]) }
        let pruned = try ground.prune(Self.hour)
        #expect(pruned.names == (31...60).reversed().map(String.init))
        #expect(try ground.paths == (1...30).flatMap { ["\($0)", "\($0).sha256"] }.sorted())
        #expect(try ground.journal.standing(of: ground.folder).files == 30)
        #expect(try ground.story(62) == [Transition.pruned])
        #expect(try ground.prune(Self.hour) == KeptGround.Pruned(), "what is dealt with is not found again")
    }

    @Test(arguments: Kind.allCases) func filesAndBytesAreBroughtUnderTheirLimits(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        for number in 1...9 { try ground.leaveFile("\(number)\(number)", minutes: number) }
        #expect(try ground.prune(KeepRule.Limits(files: 7)).names == ["99", "88"])
        #expect(try ground.prune(KeepRule.Limits(bytes: ByteSize(bytes: 11))).names == ["77", "66"])
        #expect(try ground.journal.standing(of: ground.folder).bytes == 10)
    }

    /// Somebody removed the newest: they do not count, so that the oldest need not go for them.
    @Test(arguments: Kind.allCases) func whatOthersRemovedDoesNotCount(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        let paths = try (1...9).map { try ground.leaveFile("\($0)", minutes: $0) }
        for path in paths[..<5] { try Folder.remove(path) }
        for isDry in [true, false] {
            let pruned = try ground.prune(KeepRule.Limits(files: 4), isDry: isDry)
            #expect(pruned == KeptGround.Pruned(gone: 5))
        }
        #expect(try ground.story(1) == [Transition.originalGone])
        #expect(try ground.paths.count == 4)
    }

    @Test(arguments: Kind.allCases) func whatIsNotAsItWasLeftStays(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        let paths = try (1...8).map { number in
            try ground.leaveFile("\(number)", minutes: 100 + number, sides: ["\(number).side"])
        }
        // Another file of the same size and time.
        let times = try #require(FileStatus.of(paths[0]))
        try Folder.remove(paths[0])
        try ground.write("filler", to: ground.root.appending("filler"))
        try ground.write("X", to: paths[0])
        try setTime(of: paths[0], to: times.st_mtim)
        try ground.write("22", to: paths[1])
        try Folder.remove(paths[2])
        #expect(symlink("/etc/passwd", paths[2].string) == 0)
        try Folder.remove(paths[3])
        try Folder.make(paths[3])
        try ground.write("mine", to: paths[3].appending("mine"))
        #expect(link(paths[4].string, ground.root.appending("link").string) == 0)
        // A side file of its own.
        try ground.write("another", to: ground.root.appending("6.side"))
        let before = Set(try ground.paths)
        for isDry in [true, false] {
            let pruned = try ground.prune(Self.hour, isDry: isDry)
            #expect(pruned == KeptGround.Pruned(names: ["8", "7", "6"], changed: 4, linked: 1), "dry: \(isDry)")
        }
        #expect(before.subtracting(try ground.paths) == ["6", "7", "7.side", "8", "8.side"])
        #expect(try ground.journal.standing(of: ground.folder).changed == 4)
        #expect(try ground.story(101) == [Transition.originalChanged])
        // It has one name again.
        try Folder.remove(ground.root.appending("link"))
        #expect(try ground.prune(Self.hour) == KeptGround.Pruned(names: ["5"], changed: 4))
    }

    private func setTime(of path: FilePath, to time: timespec) throws {
        let times = [time, time]
        #expect(utimensat(AT_FDCWD, path.string, times, 0) == 0)
    }

    /// Those with other names do not count, or newer ones would go for them.
    @Test(arguments: Kind.allCases) func whatIsLinkedDoesNotCount(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        for number in 1...9 {
            let path = try ground.leaveFile("\(number)", minutes: number)
            if number > 4 { #expect(link(path.string, ground.scratch.path("link-\(number)").string) == 0) }
        }
        for isDry in [true, false] {
            #expect(try ground.prune(KeepRule.Limits(files: 4), isDry: isDry) == KeptGround.Pruned(linked: 5))
            let pruned = try ground.prune(KeepRule.Limits(files: 3), isDry: isDry)
            #expect(pruned == KeptGround.Pruned(names: ["4"], linked: 5), "dry: \(isDry)")
        }
    }

    /// A folder in which anything was changed since, however deep, stays whole.
    @Test(arguments: Kind.allCases) func aFolderGoesAsItWasLeft(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        func leave(_ name: String, _ minutes: Int) throws -> FilePath {
            try ground.leave(name, minutes: minutes) { path in
                try Folder.make(path.appending("a").appending("b"))
                try ground.write(name, to: path.appending("a").appending("b").appending("page"))
            }
        }
        let changes: [(FilePath) throws -> Void] = [
            { try ground.write("more", to: $0.appending("a/b/new")) },
            { try ground.write("other", to: $0.appending("a/b/page")) },
            { try Folder.remove($0.appending("a/b/page")) },
            { #expect(rename($0.appending("a/b").string, $0.appending("a/c").string) == 0) },
            { #expect(link($0.appending("a/b/page").string, ground.root.appending("held").string) == 0) },
            { try ground.write("more", to: $0.appending("top")) },
        ]
        for (number, change) in changes.enumerated() { try change(try leave("changed-\(number)", 200 + number)) }
        _ = try leave("untouched", 300)
        let before = Set(try ground.paths)
        for isDry in [true, false] {
            let pruned = try ground.prune(Self.hour, isDry: isDry)
            #expect(pruned == KeptGround.Pruned(names: ["untouched"], changed: changes.count), "dry: \(isDry)")
        }
        let removed = before.subtracting(try ground.paths)
        #expect(removed == ["untouched", "untouched/a", "untouched/a/b", "untouched/a/b/page"])
    }

    /// What cannot be looked at holds up nothing else, and does not count.
    @Test(.enabled(if: geteuid() == 0), arguments: Kind.allCases)
    func oneThatCannotBeRemovedIsPassedBy(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        for number in 1...9 { try ground.leaveFile("\(number)", minutes: number + 60) }
        let (flags, fixed): ([String], FilePath) = (["+i", "-i"], ground.root.appending("9"))
        let chattr = try #require(Tool.find("chattr"))
        guard try chattr.run([flags[0], fixed.string]).status == 0 else { return }
        let pruned = try ground.prune(KeepRule.Limits(files: 7))
        #expect(try chattr.run([flags[1], fixed.string]).status == 0)
        #expect(pruned.names == ["8"] && pruned.troubles.count == 1, "\(pruned)")
    }

    @Test(arguments: Kind.allCases) func foldersThatWereMadeGoOnceTheyAreEmpty(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        try ground.leaveFile("2026/11/a", minutes: 100, made: ["2026/11", "2026"])
        try ground.leaveFile("2025/b", minutes: 101, made: ["2025"])
        try Folder.make(ground.root.appending("mine"))
        try ground.leaveFile("mine/c", minutes: 102)
        try ground.write("mine", to: ground.root.pushing("2025/own"))
        #expect(try ground.prune(Self.hour).names == ["mine/c", "2025/b", "2026/11/a"])
        #expect(try ground.paths == ["2025", "2025/own", "mine"])
        try Folder.remove(ground.root.pushing("2025/own"))
        try ground.prune(Self.hour)
        #expect(try ground.paths == ["mine"])
    }

    /// A folder whose disk is away: none of them counts as gone, also where jobs have published to its place since.
    @Test(arguments: Kind.allCases) func anotherFolderInItsPlaceHasNothingToLose(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        for number in 1...9 { try ground.leaveFile("\(number)", minutes: number + 60) }
        let away = ground.root.removingLastComponent().appending("away")
        func exchange(_ from: FilePath, _ to: FilePath) { #expect(rename(from.string, to.string) == 0) }
        for round in 1...2 {
            exchange(ground.root, away)
            try Folder.make(ground.root)
            if round == 2 { try ground.leaveFile("new", minutes: 5) }
            let pruned = try ground.prune(Self.hour)
            #expect(pruned.gone == 0 && pruned.names == [] && pruned.troubles.count == 1, "\(pruned)")
            #expect(try ground.journal.standing(of: ground.folder).files >= 8)
            try Folder.remove(ground.root)
            exchange(away, ground.root)
            // The next time there is a hidden folder by which it is known.
            #expect(try ground.prune(KeepRule.Limits(files: 8)).troubles == [])
        }
        // Somebody has removed that: most of them are there.
        try Folder.remove(ground.root.appending(try #require(ground.journal.standing(of: ground.folder).mark)))
        #expect(try ground.prune(Self.hour).names == (1...8).reversed().map(String.init))
    }

    @Test(arguments: Kind.allCases) func shortSpaceTakesTheOldestUntilThereIsEnough(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        for number in 1...9 { try ground.leaveFile("\(number)", minutes: number + 60) }
        try ground.leaveFile("young", minutes: 5)
        for isDry in [true, false] {
            // Three bytes are to be freed.
            #expect(try ground.prune(KeepRule.Limits(), isDry: isDry) { $0 < 3 }.names == ["9", "8", "7"])
        }
        #expect(try ground.prune(KeepRule.Limits()) { _ in true }.names == ["6", "5", "4", "3", "2", "1"])
        #expect(try ground.paths == ["young"])
    }

    /// A failed original that was sent in again, and failed again, is one.
    @Test(arguments: Kind.allCases) func aRetryIsNotCountedTwice(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        let failed = KeptFolder("scans", .failed, ground.root)
        ground.journal.keep([failed])
        let path = try ground.leave("a", minutes: 90, state: .failed) { try ground.write("a", to: $0) }
        try ground.collect()
        #expect(try ground.journal.standing(of: failed).files == 1)
        try Folder.remove(path)
        try ground.leave("a", minutes: 80, state: .failed, retryOf: KeptGround.id(90)) { try ground.write("a", to: $0) }
        for _ in 1...2 {
            try ground.collect()
            #expect(try ground.journal.standing(of: failed).files == 1)
        }
        #expect(try ground.story(90) == [])
    }

    /// It was moved back into the inbox by hand, and is where it was: as old as its last job.
    @Test(arguments: Kind.allCases) func whatCameBackToItsPlaceIsTheNewerJobs(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        let path = try ground.leaveFile("a", minutes: 100)
        for _ in 1...2 {
            try ground.collect()
            try ground.leave("a", minutes: 5) { #expect($0 == path) }
            #expect(try ground.prune(Self.hour) == KeptGround.Pruned())
            #expect(try ground.journal.standing(of: ground.folder).files == 1)
        }
        #expect(try ground.paths == ["a"])
    }

    /// It stays, and does not keep its original.
    @Test(.enabled(if: geteuid() == 0), arguments: Kind.allCases)
    func aSideFileThatCannotBeRemovedIsTold(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        try ground.leaveFile("a", minutes: 100, sides: ["a.sha256"])
        let chattr = try #require(Tool.find("chattr"))
        let fixed = ground.root.appending("a.sha256").string
        guard try chattr.run(["+i", fixed]).status == 0 else { return }
        let pruned = try ground.prune(Self.hour)
        #expect(try chattr.run(["-i", fixed]).status == 0)
        #expect(pruned.names == ["a"] && pruned.troubles.count == 1, "\(pruned)")
        #expect(try ground.paths == ["a.sha256"])
    }

    @Test(.enabled(if: PostgresServer.isPossible)) func oneOfSeveralNodesRemoves() throws {
        let ground = try KeptGround(.postgres)
        try ground.leaveFile("a", minutes: 100)
        let other = try PostgresJournal.open(try #require(ground.place), as: Incarnation(of: "other", version: "1"))
        defer { other.close() }
        #expect(other.mayRemove(from: ground.folder))
        #expect(try ground.prune(Self.hour) == KeptGround.Pruned())
        #expect(try ground.prune(Self.hour, isDry: true).names == ["a"])
        try other.leave()
        #expect(try ground.prune(Self.hour).names == ["a"])
    }

    /// What is known of an original outlives its job.
    @Test(arguments: Kind.allCases) func itGoesAlsoWhenItsJobIsNotOnRecordAnyMore(_ kind: Kind) throws {
        let ground = try KeptGround(kind)
        try ground.leaveFile("a", minutes: 100)
        #expect(try ground.journal.remove([KeptGround.id(100)], noting: nil) == 1)
        #expect(try ground.journal.job(KeptGround.id(100)) == nil)
        #expect(try ground.prune(Self.hour).names == ["a"])
        #expect(try ground.paths == [])
    }
}

import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The invariant itself must be able to fail: each kind of harm is done by hand to a folder where all is well.
@Suite struct LedgerTests {
    private let scratch: ScratchFolder
    private let mill: Mill

    init() throws {
        scratch = try ScratchFolder()
        var mill = Mill(at: scratch.path)
        try mill.build()
        try mill.dropMixed()
        #expect(try mill.runOnce().status == 1)
        self.mill = mill
    }

    private func kinds(_ moment: Ledger.Moment = .settled) throws -> Set<Ledger.Violation.Kind> {
        Set(try mill.violations(moment).map(\.kind))
    }

    private func move(_ old: String, to new: String) throws {
        let from = scratch.path(old), to = scratch.path(new)
        try Folder.make(to.removingLastComponent())
        try #require(from.withPlatformString { from in to.withPlatformString { Glibc.rename(from, $0) } } == 0)
    }

    private func copy(_ old: String, to new: String) throws {
        try scratch.write(scratch.read(old), to: scratch.path(new))
    }

    @Test func findsNothingWhereAllIsWell() throws {
        #expect(try mill.violations(.settled) == [])
        #expect(try mill.violations(.interrupted(copying: false)) == [])
    }

    @Test(arguments: ["output/plain/plain.txt", "processed/three.2.zip", "failed/bad.zip", "processed/three.zip"])
    func seesThatADropIsLost(_ path: String) throws {
        try Folder.remove(scratch.path(path))
        #expect(try kinds().contains(.lost))
        #expect(try kinds(.interrupted(copying: true)).contains(.lost))
    }

    @Test func seesThatResultsAreLost() throws {
        try Folder.remove(scratch.path("output/three"))
        #expect(try kinds() == [.lost])
        #expect(try kinds(.interrupted(copying: false)) == [.lost])
    }

    @Test func seesWhatIsWrongWithAList() throws {
        let list = scratch.path("output/by-listed/SHA256SUMS")
        let whole = try scratch.read("output/by-listed/SHA256SUMS")
        let last = whole.split(separator: 0x0A).last.map { Array($0) + [0x0A] } ?? []
        func expect(_ text: [UInt8], _ kinds: Ledger.Violation.Kind...) throws {
            try mill.write(text, to: list)
            #expect(try self.kinds() == Set(kinds))
        }
        let before = Array(whole.dropLast(last.count))
        try expect(before, .torn)
        try expect(whole + last, .publishedTwice)
        try expect(Array(whole.dropLast()), .torn)
        try expect(Array(whole.dropFirst(81)), .lost)
        try expect(whole + Array("abc\n".utf8), .stranger)
        try expect(whole + Array("abc".utf8), .torn)
        try expect(before + [0, 0] + Array(last.dropFirst(2)), .torn, .stranger)
        try expect([], .lost, .torn)
        try mill.write(Array(whole.dropLast(5)), to: list)
        #expect(try kinds(.interrupted(copying: false)) == [], "it is only begun")
        try Folder.remove(list)
        #expect(try kinds() == [.lost, .torn])
    }

    @Test func seesADropTwice() throws {
        try copy("failed/bad.zip", to: "inbox/bad.zip")
        #expect(try kinds() == [.doubled])
    }

    @Test func seesWhatWasFetchedAndIsThereAgain() throws {
        var mill = mill
        let content = try scratch.read("output/plain/plain.txt")
        #expect(try mill.fetch("plain.txt", again: 1))
        #expect(try mill.violations(.settled) == [])
        try scratch.write(content, to: scratch.path("inbox/plain.txt"))
        #expect(try mill.violations(.settled).map(\.kind) == [.doubled])
    }

    @Test func seesAnEndThatIsOnRecordTwice() throws {
        #expect(try mill.doubleRows() == [])
        var fewer = mill
        fewer.ledger = Ledger()
        #expect(try fewer.doubleRows().count == 10)
    }

    @Test func allowsACopyUnderWay() throws {
        try copy("failed/bad.zip", to: ".dropmill/all/active/1/bad.zip")
        #expect(try kinds(.interrupted(copying: true)) == [])
        #expect(try kinds(.interrupted(copying: false)) == [.doubled])
    }

    @Test func seesWhatIsPublishedTwice() throws {
        for file in ["folder/member-1", "member-2", "member-3", "SHA256SUMS"] {
            try copy("output/three/\(file)", to: "output/three.2/\(file)")
        }
        #expect(try kinds() == [.publishedTwice])
    }

    @Test(arguments: ["output/three/member-2", "output/three/SHA256SUMS", "output/plain/plain.txt.sha256"])
    func seesWhatIsHalfPublished(_ path: String) throws {
        try scratch.write("", to: path)
        #expect(try kinds() == [.torn])
        try Folder.remove(scratch.path(path))
        #expect(try kinds() == [.torn])
        #expect(try kinds(.interrupted(copying: true)) == [.torn])
    }

    @Test(arguments: ["output/plain/plain.txt", "failed/bad.zip"])
    func seesBytesThatAreWrong(_ path: String) throws {
        try scratch.append([0], to: scratch.path(path))
        #expect(try kinds().isSuperset(of: [.torn, .lost]))
    }

    @Test func seesAFailureWithoutItsReason() throws {
        try Folder.remove(scratch.path("failed/bad.zip.error.json"))
        #expect(try kinds() == [.torn])
    }

    @Test func seesADigestAlone() throws {
        try copy("output/plain/plain.txt.sha256", to: "output/plain/plain.2.txt.sha256")
        #expect(try kinds() == [.torn])
        #expect(try kinds(.interrupted(copying: false)) == [])
    }

    @Test(arguments: [
        "output/plain/.dropmill-1.partial", "inbox/.dropmill-1.partial", ".dropmill/all/active/1/.1-unpack/x",
    ])
    func seesWhatWasLeftBehind(_ path: String) throws {
        try scratch.write("half", to: path)
        #expect(try kinds() == [.leftover])
        #expect(try kinds(.interrupted(copying: false)) == [])
    }

    @Test(arguments: ["output/other", "processed/other", "failed/other", "inbox/other"])
    func seesAStranger(_ path: String) throws {
        try scratch.write("who", to: path)
        #expect(try kinds() == [.stranger])
    }

    @Test(arguments: ["inbox/bad.zip", ".dropmill/all/active/1/bad.zip"])
    func seesWhatIsNotSettled(_ path: String) throws {
        try move("failed/bad.zip", to: path)
        #expect(try kinds().contains(.unsettled))
        #expect(try kinds(.interrupted(copying: false)) == [])
    }

    @Test func seesAWrongEnd() throws {
        try move("processed/three.2.zip", to: "failed/three.zip")
        try copy("failed/bad.zip.error.json", to: "failed/three.zip.error.json")
        #expect(try kinds() == [.misjudged])
    }

    @Test func seesThatSomethingOldWasOverwritten() throws {
        try scratch.append([0], to: scratch.path("processed/three.zip"))
        #expect(try kinds() == [.torn])
    }
}

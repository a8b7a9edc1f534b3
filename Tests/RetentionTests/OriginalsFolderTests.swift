import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import Retention

/// What an earlier run left half done is ended, or undone where it should not have been begun.
@Suite struct OriginalsFolderTests {
    private let ground: KeptGround
    private let mark: FileName
    private static let hour = KeepRule.Limits(age: .seconds(3600))

    /// There is an original, and a hidden folder.
    init() throws {
        ground = try KeptGround()
        try ground.leaveFile("old", minutes: 9000)
        try ground.prune(Self.hour)
        let standing = try ground.journal.standing(of: ground.folder)
        mark = try #require(standing.mark.flatMap { FileName($0) })
    }

    private var aside: FilePath { ground.root.appending(mark) }
    private func slot(_ minutes: Int) -> FilePath { aside.appending(KeptGround.id(minutes).fileName) }

    /// Notes that its removal has begun.
    private func begin(_ minutes: Int) throws {
        try ground.collect()
        var file = try #require(
            try ground.journal.files(in: ground.folder, after: nil, limit: 9).first { $0.job == KeptGround.id(minutes) }
        )
        file.rule = "processed: age"
        try ground.journal.begin([file])
    }

    private func move(_ from: FilePath, _ to: FilePath) { #expect(rename(from.string, to.string) == 0) }

    @Test(arguments: [0, 1, 2, 3]) func aFileIsRemovedFromWhereverItWas(cut: Int) throws {
        let path = try ground.leaveFile("a", minutes: 100, sides: ["a.sha256"])
        try begin(100)
        if cut > 0 { move(path, slot(100)) }
        if cut > 1 { try Folder.remove(ground.root.appending("a.sha256")) }
        if cut > 2 { try Folder.remove(slot(100)) }
        // What was not touched stays where the rule is another by now.
        try ground.prune(KeepRule.Limits(files: 9))
        #expect(try ground.paths.isEmpty == (cut > 0) && ground.story(100).isEmpty == (cut == 0))
        try ground.prune(Self.hour)
        #expect(try ground.paths == [])
        #expect(try ground.story(100) == [Transition.pruned])
    }

    @Test func aFolderThatIsHalfRemovedGoes() throws {
        let path = try ground.leave("a", minutes: 100) { path in
            try Folder.make(path.appending("b"))
            try ground.write("page", to: path.pushing("b/page"))
        }
        try begin(100)
        let grave = aside.appending("\(KeptGround.id(100)).gone")
        move(path, grave)
        try Folder.remove(grave.pushing("b/page"))
        try ground.prune(Self.hour)
        #expect(try ground.paths == [])
        #expect(try ground.story(100) == [Transition.pruned])
    }

    /// Somebody changed it before it was brought out of the way, and put another in its place since.
    @Test func whatIsNotAsItWasLeftGoesBack() throws {
        let path = try ground.leaveFile("a", minutes: 100)
        try begin(100)
        try ground.write("changed", to: path)
        move(path, slot(100))
        try ground.write("another", to: path)
        #expect(try ground.prune(Self.hour) == KeptGround.Pruned(changed: 1))
        #expect(try ground.paths == ["a", "a.2"])
        #expect(try ground.story(100) == [Transition.originalChanged])
    }

    @Test func whereItsFolderIsGoneItGoesBackToTheTop() throws {
        let path = try ground.leaveFile("sub/a", minutes: 100, made: ["sub"])
        try begin(100)
        try ground.write("changed", to: path)
        move(path, slot(100))
        try Folder.remove(ground.root.appending("sub"))
        #expect(try ground.prune(Self.hour) == KeptGround.Pruned(changed: 1))
        #expect(try ground.paths == ["a"])
    }

    /// A name in the hidden folder that is a stranger's is nobody's to remove.
    @Test func whatIsInTheHiddenFolderIsLookedAtOnceMore() throws {
        let path = try ground.leaveFile("a", minutes: 100)
        try begin(100)
        move(path, ground.root.appending("kept"))
        try ground.write("stranger", to: slot(100))
        #expect(try ground.prune(Self.hour) == KeptGround.Pruned(changed: 1))
        #expect(try ground.paths == ["a", "kept"])
    }
}

import Files
import Glibc
import Journal
import Retention
import SQLiteJournal
import SystemPackage
import TestSupport

@testable import PipelineKit

/// Originals of jobs that ended a second apart, and what others have done to some of them.
struct PruneCrowd {
    /// What became of one.
    private enum Fate: Int {
        /// Another file has its name, of its size and time.
        case swapped
        case changed
        case linked
        /// A symbolic link to where it is now.
        case moved
        /// A folder has its name.
        case folder
        case gone

        static func of(_ number: Int) -> Fate? { number % 4 == 3 ? Fate(rawValue: number / 4 % 16) : nil }
    }

    private let scratch: ScratchFolder
    private let journal: SQLiteJournal
    private let folder: KeptFolder
    private let count: Int
    private let ids: [JobID]
    /// The numbers of those that nobody has touched and that are there.
    private var rest: [Int]
    private(set) var gone = 0

    private static let start = 1_700_000_000

    init(of count: Int) throws {
        scratch = try ScratchFolder()
        self.count = count
        ids = (0..<count).map {
            JobID(milliseconds: UInt64(Self.start + $0) * 1000, high: UInt16(truncatingIfNeeded: $0), low: UInt64($0))
        }
        rest = (0..<count).filter { Fate.of($0) == nil }
        folder = KeptFolder("crowd", .processed, try scratch.makeFolder("root"))
        for name in ["elsewhere", "state"] { try scratch.makeFolder(name) }
        journal = try SQLiteJournal.open(writing: scratch.path("state"), durable: false)
        journal.keep([folder])
        for first in stride(from: 0, to: count, by: 1000) {
            let last = min(first + 1000, count)
            try Folder.make(path(first).removingLastComponent())
            try journal.write(try (first..<last).map(make), pipelines: [])
        }
        var collected: ExpiredJob?
        repeat {
            collected = try journal.collect(since: Timestamp(nanoseconds: .min), after: collected, limit: 500)
        } while collected != nil
        for number in 0..<count { try spoil(number) }
    }

    // MARK: Making

    private func path(_ number: Int) -> FilePath { folder.root.pushing(FilePath("\(number / 1000)/\(number)")) }
    private func side(_ number: Int) -> FilePath { FilePath(path(number).string + ".sha256") }
    private func elsewhere(_ number: Int) -> FilePath { scratch.path("elsewhere/\(number)") }

    /// Of some a person has changed the file beside it.
    private static func hasSide(_ number: Int) -> Bool { number % 8 == 0 }
    private static func hasChangedSide(_ number: Int) -> Bool { number % 80 == 0 }

    private func size(of number: Int) -> Int64 { Int64(1 + number % 700) }

    private func make(_ number: Int) throws -> JobRecord {
        let path = path(number)
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        guard ftruncate(file.descriptor, Int(size(of: number))) == 0 else { throw IOError("make", path, .last) }
        var state = OriginalState(try file.status())
        if Self.hasSide(number), let name = side(number).lastName {
            try scratch.write(Array("digest".utf8), to: side(number))
            guard let status = FileStatus.of(side(number)) else { throw IOError("examine", path, .last) }
            state.sides = [OriginalState.Side(name, FileState(status))]
        }
        if number % 1000 == 0, let status = FileStatus.of(path.removingLastComponent()) {
            state.made = [UInt64(status.st_ino)]
        }
        let time = Timestamp(seconds: Self.start + number, nanoseconds: 0)
        let drop = Drop(name: FileName(unchecked: Array("\(number)".utf8)), size: size(of: number), droppedAt: time)
        let job = Job(
            id: ids[number], pipeline: folder.pipeline, drop: drop, claimedAt: time, folder: scratch.path)
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        (record.state, record.finishedAt) = (.processed, time)
        (record.original, record.originalState) = (path, state)
        return record
    }

    /// What a person does.
    private func spoil(_ number: Int) throws {
        if Self.hasChangedSide(number) { try scratch.write(Self.theirs, to: side(number)) }
        let (path, other) = (path(number), elsewhere(number))
        func call(_ what: String, _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32) throws {
            let result = path.withPlatformString { path in other.withPlatformString { body(path, $0) } }
            guard result == 0 else { throw IOError(what, path, .last) }
        }
        switch Fate.of(number) {
        case nil: break
        case .swapped:
            guard let before = FileStatus.of(path) else { throw IOError("examine", path, .last) }
            let content = (0..<Int(size(of: number))).map { Self.theirs[$0 % Self.theirs.count] }
            try scratch.write(content, to: other)
            let times = [before.st_atim, before.st_mtim]
            try call("set the time of") { utimensat(AT_FDCWD, $1, times, 0) }
            try call("swap") { rename($1, $0) }
        case .changed: try scratch.write(Self.theirs, to: path)
        case .linked: try call("link") { link($0, $1) }
        case .moved:
            try call("move") { rename($0, $1) }
            try call("link") { symlink($1, $0) }
        case .folder:
            try call("remove") { path, _ in unlink(path) }
            try scratch.write(Self.theirs, to: path.appending("theirs"))
        case .gone: try call("remove") { path, _ in unlink(path) }
        }
    }

    private static let theirs = Array("theirs".utf8)

    // MARK: Pruning

    var standing: KeptStanding { get throws { try journal.standing(of: folder) } }

    /// What counts: those with other names do not.
    var counted: KeptStanding {
        get throws {
            var standing = try standing
            for number in 0..<count where Fate.of(number) == .linked {
                standing.files -= 1
                standing.bytes -= size(of: number)
            }
            return standing
        }
    }

    /// Prunes to its end, and returns the numbers of those that were removed, in order.
    mutating func prune(_ limits: KeepRule.Limits) throws -> [Int] {
        let now = Timestamp(seconds: Self.start + count, nanoseconds: 0)
        let keeper = OriginalsKeeper(journal, folder, limits, at: now)
        var removed: [Int] = []
        var cursor: PruneCursor? = PruneCursor()
        while let next = cursor {
            let step = try keeper.step(from: next)
            if let trouble = step.troubles.first { throw IOError(trouble, folder.root, .ioError) }
            removed += step.removed.compactMap { $0.path.lastComponent.flatMap { Int($0.string) } }
            gone += step.gone
            cursor = step.next
        }
        return removed
    }

    /// Those that are there as they were left: of jobs that ended before, or so many of the oldest.
    func intact(before number: Int) -> [Int] { Array(rest.prefix { $0 < number }) }
    func intact(_ count: Int) -> [Int] { Array(rest.prefix(count)) }

    mutating func leaveOut(_ removed: [Int]) {
        let removed = Set(removed)
        rest.removeAll { removed.contains($0) }
    }

    func size(of number: Int?) -> Int64 { number.map { size(of: $0) } ?? 0 }

    // MARK: Looking

    private func number(of fates: Fate...) -> Int {
        (0..<count).count { Fate.of($0).map(fates.contains) ?? false }
    }

    var linked: Int { number(of: .linked) }
    var expected: (changed: Int, gone: Int) {
        (number(of: .swapped, .changed, .moved, .folder), number(of: .gone))
    }

    /// What is not there any more, though nobody may remove it, or is there although it was removed.
    func losses() throws -> [String] {
        let kept = Set(rest)
        func holds(_ path: FilePath) throws -> Bool { try ScratchFolder.read(path).starts(with: Self.theirs.prefix(1)) }
        return try (0..<count).compactMap { number in
            let path = path(number)
            let status = FileStatus.of(path)
            let isRight =
                switch Fate.of(number) {
                case nil: kept.contains(number) == (status != nil)
                case .swapped: try holds(path) && status?.st_size == Int(size(of: number))
                case .changed: try holds(path) && status?.st_size == Self.theirs.count
                case .linked: status?.st_nlink == 2 && FileStatus.of(elsewhere(number))?.st_ino == status?.st_ino
                case .moved:
                    FileStatus.of(elsewhere(number))?.st_size == Int(size(of: number))
                        && ScratchFolder.target(of: path) == elsewhere(number).string
                case .folder: try holds(path.appending("theirs"))
                case .gone: status == nil
                }
            let isSideThere = Folder.kind(of: side(number)) != nil
            let isSideRight =
                !Self.hasSide(number) || isSideThere == (Self.hasChangedSide(number) || kept.contains(number))
            return isRight && isSideRight ? nil : "\(number)\(Fate.of(number).map { ", \($0)" } ?? "")"
        }
    }
}

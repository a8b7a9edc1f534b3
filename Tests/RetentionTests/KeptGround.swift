import Files
import Glibc
import PipelineKit
import PostgresJournal
import SQLiteJournal
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import Retention

/// A folder with originals that jobs have left there, and their journal.
struct KeptGround {
    let scratch: ScratchFolder
    let root: FilePath
    let journal: any Journal & FileJournal
    /// Where that is in a database.
    private(set) var place: String?
    let folder: KeptFolder
    /// The n-th job ended n minutes before.
    static let now = Timestamp(seconds: 1_795_000_000, nanoseconds: 0)

    /// The journals that there are.
    enum Kind: CaseIterable, Sendable {
        case sqlite
        case postgres

        static var allCases: [Self] { [.sqlite] + (PostgresServer.isPossible ? [.postgres] : []) }
    }

    init(_ kind: Kind = .sqlite) throws {
        scratch = try ScratchFolder()
        root = try scratch.makeFolder("done")
        switch kind {
        case .sqlite: journal = try SQLiteJournal.open(writing: try scratch.makeFolder("state"), durable: false)
        case .postgres:
            let schema = try PostgresServer.shared.get().schema()
            let shared = try PostgresJournal.open(schema, as: Incarnation(of: "test", version: "1"))
            place = schema
            // What is on record is by these.
            shared.know(PathRoots([("processed", root)]), of: "scans")
            journal = shared
        }
        folder = KeptFolder("scans", .processed, root)
        journal.keep([folder])
    }

    static func id(_ minutes: Int) -> JobID { .first(at: now.before(.seconds(minutes * 60))) }

    /// A job that ended so many minutes ago and left this there, made by `make`; with side files of these names.
    @discardableResult
    func leave(
        _ name: String, minutes: Int, sides: [String] = [], made: [String] = [], state: JobRecord.State = .processed,
        retryOf: JobID? = nil, _ make: (FilePath) throws -> Void
    ) throws -> FilePath {
        let path = root.pushing(FilePath(name))
        for folder in made.reversed() { try Folder.make(root.pushing(FilePath(folder))) }
        try make(path)
        // It is brought there when all in it is done.
        try tick()
        #expect(chmod(path.string, 0o755) == 0)
        try tick()
        var left = OriginalState(try #require(FileStatus.of(path)))
        for side in sides {
            let beside = path.removingLastComponent().appending(side)
            try write("of \(name)", to: beside)
            left.sides.append(
                .init(try #require(FileName(side)), FileState(try #require(FileStatus.of(beside)))))
        }
        left.made = try made.map { UInt64(try #require(FileStatus.of(root.pushing(FilePath($0)))).st_ino) }
        let time = Self.now.before(.seconds(minutes * 60))
        let drop = Drop(name: try #require(path.lastName), size: 1000, droppedAt: time)
        let job = Job(id: Self.id(minutes), pipeline: "scans", drop: drop, claimedAt: time, folder: "/work")
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        (record.state, record.finishedAt, record.original, record.originalState) = (state, time, path, left)
        record.retryOf = retryOf
        try journal.write([record], pipelines: [])
        return path
    }

    /// A file of its own name's content.
    @discardableResult
    func leaveFile(_ name: String, minutes: Int, sides: [String] = [], made: [String] = []) throws -> FilePath {
        try leave(name, minutes: minutes, sides: sides, made: made) { try write(name, to: $0) }
    }

    /// Returns when the file system's clock has moved on.
    private func tick() throws {
        let probe = scratch.path.appending("probe")
        try write("", to: probe)
        func time() throws -> FileTime { FileTime(try #require(FileStatus.of(probe)).st_ctim) }
        let before = try time()
        while try time() == before { #expect(chmod(probe.string, 0o644) == 0) }
    }

    func write(_ text: String, to path: FilePath) throws {
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.write(Array(text.utf8))
    }

    func collect() throws {
        var last: ExpiredJob?
        repeat {
            last = try journal.collect(since: Timestamp(nanoseconds: .min), after: last, limit: 3)
        } while last != nil
    }

    /// All steps, from the beginning.
    @discardableResult
    func prune(_ limits: KeepRule.Limits, isDry: Bool = false, isShort: @escaping (Int64) -> Bool = { _ in false })
        throws
        -> Pruned
    {
        try collect()
        var (all, cursor): (Pruned, PruneCursor?) = (Pruned(), PruneCursor())
        let keeper = OriginalsKeeper(journal, folder, limits, at: Self.now, isDry: isDry, isShort: isShort)
        while let next = cursor {
            let step = try keeper.step(from: next)
            all.add(step, of: root)
            cursor = step.next
        }
        return all
    }

    /// What became of all steps.
    struct Pruned: Equatable {
        var names: [String] = []
        var changed = 0
        var linked = 0
        var gone = 0
        var troubles: [String] = []

        mutating func add(_ step: PruneStep, of root: FilePath) {
            for file in step.removed {
                var path = file.path
                _ = path.removePrefix(root)
                names.append(path.string)
            }
            (changed, linked, gone) = (changed + step.changed, linked + step.linked, gone + step.gone)
            troubles += step.troubles
        }
    }

    /// All paths below the folder, but for the hidden folder where that is empty.
    var paths: [String] {
        get throws {
            let tree = try FileTree.list(root)
            let all = tree.files.map(\.relative) + tree.folders + tree.links
            return all.map(\.string).filter { !$0.hasPrefix(".dropmill-kept-") || $0.contains("/") }.sorted()
        }
    }

    func story(_ minutes: Int) throws -> [String] {
        try #require(try journal.job(Self.id(minutes))).history.map(\.event)
    }
}

import CVersion
import Files
import Journal
import PipelineKit
import SQLite
import SystemPackage

/// A journal before another Dropmill changes its schema, for the way back.
extension SQLiteJournal {
    private static let copies = (start: "journal.before-", end: ".sqlite")

    /// Keeps what an older Dropmill wrote as `journal.before-VERSION.sqlite`, with the version that changes it; only
    /// once, so that it stays what it was before the first of several changes of one version.
    static func keepCopy(of pool: Pool, _ path: FilePath) throws {
        let applied = try pool.read { try Migrations.applied(in: $0) }
        guard !applied.isEmpty, !Migrations.isComplete(applied) else { return }
        let version = String(cString: dm_version()).split(separator: "\n").first ?? ""
        let folder = path.removingLastComponent()
        let (copy, draft) = (
            folder.appending("\(copies.start)\(version)\(copies.end)"), folder.appending("journal.copying")
        )
        guard Folder.kind(of: copy) == nil else { return }
        try remove(draft)
        do {
            try back(pool, up: draft)
            try NoReplace.rename(draft, to: copy)
            try Folder.open(folder).file.sync()
        } catch {
            try remove(draft)
            throw JournalError(error, "copy", path)
        }
    }

    /// The newest of these copies; nil where there is none.
    static func lastCopy(beside path: FilePath) -> FilePath? {
        let folder = path.removingLastComponent()
        let names = (try? Folder.names(in: folder)) ?? []
        let found = names.filter { $0.text.hasPrefix(copies.start) && $0.text.hasSuffix(copies.end) }
        return found.map { folder.appending($0) }.max { age(of: $0) < age(of: $1) }
    }

    private static func age(of copy: FilePath) -> Int {
        FileStatus.of(copy)?.st_mtim.tv_sec ?? 0
    }
}

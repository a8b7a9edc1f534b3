package import Files
import Glibc
package import Journal
import PipelineKit
package import SystemPackage

extension SQLiteJournal {
    /// Puts a damaged journal out of the way as `journal.corrupt-TIME`, its log with it, and overwrites nothing;
    /// an investigation finds all of it. Returns where it is. The journal must not be open.
    package static func setAside(in folder: FilePath, at time: Timestamp) throws(JournalError) -> FilePath {
        let stem = "journal.corrupt-" + time.formatted("%Y%m%dT%H%M%SZ", utc: true)
        var number = 1
        while true {
            let target = folder.appending(number == 1 ? stem : "\(stem).\(number)")
            do throws(IOError) {
                try move(file(in: folder), to: target)
                return target
            } catch {
                guard error.errno == .fileExists else {
                    throw JournalError(
                        .environment,
                        "The damaged journal cannot be moved aside: \(error). Give Dropmill the right to, or move it "
                            + "yourself.")
                }
                number += 1
            }
        }
    }

    /// Notes that the journal in a state folder is damaged, for the next opening: what was met where only a part of it
    /// is read, an opening might not see. Nothing is lost where that cannot be noted.
    package static func markDamaged(in folder: FilePath) throws(IOError) {
        try OpenFile.open(mark(of: file(in: folder)), O_WRONLY | O_CREAT | O_CLOEXEC, mode: 0o600).close()
    }

    /// The file that says so.
    static func mark(of journal: FilePath) -> FilePath { FilePath(bytes: journal.bytes + "-damaged".utf8) }

    private static let suffixes = ["", "-wal", "-shm", "-damaged"]

    /// The database moves first: after a crash between the two SQLite drops a log without a database, but would take a
    /// database without its log for a complete one.
    private static func move(_ journal: FilePath, to target: FilePath) throws(IOError) {
        let targets = suffixes.map { FilePath(bytes: target.bytes + $0.utf8) }
        guard targets.allSatisfy({ Folder.kind(of: $0) == nil }) else { throw IOError("rename", target, .fileExists) }
        for (suffix, target) in zip(suffixes, targets) {
            let source = FilePath(bytes: journal.bytes + suffix.utf8)
            guard suffix.isEmpty || Folder.kind(of: source) != nil else { continue }
            try NoReplace.rename(source, to: target)
        }
    }
}

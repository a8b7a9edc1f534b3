import Archive
package import Files
package import Journal
package import SystemPackage

/// Files of jobs that the journal keeps no longer, a line of JSON for each and a file for each month in which they
/// went: `dropmill-2026-11.jsonl.zst`. Each writing is a frame of its own; `zstd` reads them as one file.
///
/// They go by what was noted of them: what a crash has left behind that is cut off, and written again with its jobs. A
/// file that is not as it was noted is left alone, and another begun.
package struct JobArchive: HistoryArchive {
    private let line: @Sendable (JobRecord) -> String
    private let now: @Sendable () -> Timestamp

    /// `line`: a job as JSON, without a line's end. `now`: what says the month, in UTC.
    package init(
        now: @escaping @Sendable () -> Timestamp = { .now() }, line: @escaping @Sendable (JobRecord) -> String
    ) {
        (self.now, self.line) = (now, line)
    }

    package func append(
        _ jobs: [JobRecord], to folder: FilePath, behind noted: ArchiveNote?,
        begin: (ArchiveNote) throws(JournalError) -> Void
    ) throws(ArchiveProblem) -> ArchiveNote {
        if let problem = ArchiveWriter.problem { throw .archive("the history is kept and not archived: \(problem)") }
        let month = now().formatted("%Y-%m", utc: true)
        let file: ArchiveFile
        do throws(IOError) {
            file = try ArchiveFile.open(in: folder, month: month, noted)
        } catch {
            throw .archive(Self.text(error, folder))
        }
        if file.note != noted {
            do throws(JournalError) { try begin(file.note) } catch { throw .journal(error) }
        }
        do throws(IOError) {
            return try file.append(jobs.flatMap { Array(line($0).utf8) + [UInt8(ascii: "\n")] })
        } catch {
            throw .archive(Self.text(error, folder))
        }
    }

    private static func text(_ error: IOError, _ folder: FilePath) -> String {
        let remedy =
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory:
                "make the folder, or mount what it is on"
            case .noSpace, .diskQuotaExceeded: "free space on its file system"
            case .readOnlyFileSystem: "its file system must be writable"
            case .permissionDenied, .notPermitted: "give the daemon's user the right to write there"
            default: "check the disk and the kernel's log"
            }
        return "the history is kept, because it cannot be archived in '\(folder.text)': \(error); \(remedy)"
    }
}

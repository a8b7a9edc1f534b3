import Archive
package import Files
import Glibc
package import Journal
package import SystemPackage

/// Files of jobs that the journal keeps no longer, a line of JSON for each and a file for each month in which they
/// went: `dropmill-2026-11.jsonl.zst`. Each writing is a frame of its own; `zstd` reads them as one file.
///
/// They go by what was noted of them: before each writing where it begins, and with the jobs' removal how far it went.
/// What a crash has left between is cut off, and written again with its jobs. A file that is not as it was noted, or
/// that another daemon has made, is left alone, and another begun.
package struct JobArchive: HistoryArchive {
    private let line: @Sendable (JobRecord) -> String
    private let now: @Sendable () -> Timestamp

    /// `line`: a job as JSON, without a line's end. `now`: what says the month, in UTC.
    package init(
        now: @escaping @Sendable () -> Timestamp = { .now() }, line: @escaping @Sendable (JobRecord) -> String
    ) {
        (self.now, self.line) = (now, line)
    }

    package func problem(with folder: FilePath) -> String? {
        if let problem = ArchiveWriter.problem { return "the history is kept and not archived: \(problem)" }
        return Self.access(to: folder).map { Self.text($0, folder) }
    }

    package func append(
        _ jobs: [JobRecord], to folder: FilePath, behind noted: ArchiveNote?,
        begin: (ArchiveNote) throws(JournalError) -> Void
    ) throws(ArchiveProblem) -> ArchiveNote {
        let lines = jobs.flatMap { Array(line($0).utf8) + [UInt8(ascii: "\n")] }
        do throws(IOError) {
            if let noted, noted.isOpen { try ArchiveFile.settle(noted) }
        } catch {
            throw .archive(Self.text(error, folder))
        }
        // Once more where the file is taken away while it is written.
        var last = noted
        for _ in 0..<2 {
            let note = try write(lines, folder, last) { (begun) throws(JournalError) in
                last = begun
                try begin(begun)
            }
            if let note { return note }
        }
        throw .archive(
            "the history is kept, because its archive in '\(folder.text)' is taken away while it is written; leave "
                + "this month's file where it is for a while")
    }

    private func write(
        _ lines: [UInt8], _ folder: FilePath, _ noted: ArchiveNote?,
        _ begin: (ArchiveNote) throws(JournalError) -> Void
    ) throws(ArchiveProblem) -> ArchiveNote? {
        let file: ArchiveFile
        do throws(IOError) {
            file = try ArchiveFile.open(in: folder, month: now().formatted("%Y-%m", utc: true), noted)
        } catch {
            throw .archive(Self.text(error, folder))
        }
        do throws(JournalError) {
            var note = file.note
            note.isOpen = true
            try begin(note)
        } catch {
            throw .journal(error)
        }
        let note = file.note
        do throws(IOError) {
            return try file.append(lines)
        } catch {
            // Half a frame would take up what is left of a full disk.
            do throws(IOError) { try ArchiveFile.settle(note) } catch {}
            throw .archive(Self.text(error, folder))
        }
    }

    /// What would keep jobs from being archived there; nil where nothing is known to.
    package static func problem(with folder: FilePath) -> (fact: String, remedy: String)? {
        if let problem = ArchiveWriter.problem { return (problem, "Install libarchive with zstd") }
        return access(to: folder).map { error in
            let remedy = remedy(error.errno)
            return ("\(error)", remedy.prefix(1).uppercased() + remedy.dropFirst())
        }
    }

    /// Why nothing can be written there.
    private static func access(to folder: FilePath) -> IOError? {
        folder.withPlatformString { faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) } == 0
            ? nil : IOError("write to", folder, .last)
    }

    private static func text(_ error: IOError, _ folder: FilePath) -> String {
        "the history is kept, because it cannot be archived in '\(folder.text)': \(error); \(remedy(error.errno))"
    }

    private static func remedy(_ errno: Errno) -> String {
        switch errno {
        case .staleNFSFileHandle:
            "another folder is in its place, so its mount may be away: mount it, or name another folder in "
                + "'history.archive'"
        case .noSuchFileOrDirectory, .notDirectory: "make the folder, or mount what it is on"
        case .noSpace, .diskQuotaExceeded: "free space on its file system"
        case .readOnlyFileSystem: "its file system must be writable, also for the daemon's unit (ReadWritePaths)"
        case .fileExists: "move some of its files away"
        case .permissionDenied, .notPermitted: "give the daemon's user the right to write there"
        default: "check the disk and the kernel's log"
        }
    }
}

import ArgumentParser
import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit
import SQLiteJournal

/// `dropmill journal`: the journal's file, or its database.
struct JournalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Look after the journal: its file, or the database that nodes share.",
        subcommands: [Compact.self, Init.self, Upgrade.self])

    /// `dropmill journal compact`: rewrites it.
    struct Compact: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compact",
            abstract: "Rewrite the journal without the room that nothing is in, while no daemon runs.",
            discussion: """
                A journal that 0.1.0 made stays as large as it ever was; rewritten once, after this Dropmill has run \
                with it, it gives room back by itself. For the daemon's user or root, with twice as much space free in \
                the state folder as what is in the journal. Exits with status 75 if a daemon runs with it.

                Example:

                  dropmill journal compact --state-dir /var/lib/dropmill
                """)

        @OptionGroup var state: StateArguments

        func run() throws {
            let folder = state.folder
            guard folder.shared == nil else {
                StandardError.print(
                    "error: DROPMILL_JOURNAL names a journal that nodes share, whose server keeps its files in order; "
                        + "unset it to compact the one in '\(folder.path.text)'")
                throw ExitStatus.configuration
            }
            // One that is not there is not made.
            try folder.read { _ throws(JournalError) in }
            let lock: FolderLock
            do throws(FolderError) {
                lock = try FolderLock(folder.path, describedAs: "the state folder", within: .seconds(1))
            } catch {
                StandardError.print("error: \(error.message)")
                throw ExitStatus.busy
            }
            defer { lock.release() }
            // The copy that it makes has its place there, and not in a folder of the system's.
            setenv("SQLITE_TMPDIR", folder.path.string, 1)
            do throws(JournalError) {
                let (before, after) = try SQLiteJournal.compact(in: folder.path)
                print("the journal took \(ByteSize(bytes: before)) and takes \(ByteSize(bytes: after))")
            } catch {
                StandardError.print("error: \(error.message)")
                throw error.kind == .environment ? ExitStatus.busy : ExitStatus.configuration
            }
        }
    }
}

import ArgumentParser
import Files
import Journal
import PipelineEngine
import PipelineKit
import SQLiteJournal

/// `dropmill journal`: the journal's file.
struct JournalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Look after the journal's file.", subcommands: [Compact.self])

    /// `dropmill journal compact`: rewrites it.
    struct Compact: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compact",
            abstract: "Rewrite the journal without the room that nothing is in, while no daemon runs.",
            discussion: """
                The journal of a Dropmill before this one stays as large as it ever was; rewritten once, it gives room \
                back by itself. For the daemon's user or root, with as much space free in the state folder as the \
                journal then takes. Exits with status 75 if a daemon runs with it.

                Example:

                  dropmill journal compact --state-dir /var/lib/dropmill
                """)

        @OptionGroup var state: StateArguments

        func run() throws {
            let folder = state.folder
            // One that is not there is not made.
            _ = try folder.write { journal throws(JournalError) in try journal.probe() }
            let lock: FolderLock
            do throws(FolderError) {
                lock = try FolderLock(folder.path, describedAs: "the state folder", within: .seconds(1))
            } catch {
                StandardError.print("error: \(error.message); stop the daemon before")
                throw ExitStatus.busy
            }
            defer { lock.release() }
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

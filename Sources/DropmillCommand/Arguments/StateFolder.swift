import ArgumentParser
import Files
import Journal
import PipelineConfig
import PipelineEngine
import SQLiteJournal
import SystemPackage

/// The folder that holds the journal, and is locked by the daemon that runs.
struct StateFolder {
    let path: FilePath

    /// The folder that was given, else the one of `DefaultPlaces`. `hasPipelines`: whether pipelines were named.
    init(given: FilePath?, hasPipelines: Bool = false) {
        path =
            given ?? DefaultPlaces(hasPipelines: hasPipelines, state: Environment.variables["DROPMILL_STATE"]).state
    }

    /// Looks into the journal. What is wrong with it is printed, and the exit status thrown.
    func read<Result>(_ body: (any Journal) throws(JournalError) -> Result) throws(ExitCode) -> Result {
        do throws(JournalError) {
            let journal = try SQLiteJournal.open(reading: path)
            defer { journal.close() }
            return try body(journal)
        } catch {
            throw report(error)
        }
    }

    /// Looks into the journal for what would be good to know; nil where there is none, or nothing in it.
    func peek<Result>(_ body: (any Journal) throws(JournalError) -> Result?) -> Result? {
        do throws(JournalError) {
            let journal = try SQLiteJournal.open(reading: path)
            defer { journal.close() }
            return try body(journal)
        } catch {
            return nil
        }
    }

    /// As `read`, with a journal that can be written to. One that is not there is not made.
    func write<Result>(_ body: (any Journal) throws(JournalError) -> Result) throws(ExitCode) -> Result {
        do throws(JournalError) {
            try SQLiteJournal.open(reading: path).close()
            let journal = try SQLiteJournal.open(writing: path, durable: true, checking: false)
            defer { journal.close() }
            return try body(journal)
        } catch {
            throw report(error)
        }
    }

    /// Whether a daemon holds it now.
    func isHeld() throws(JournalError) -> Bool {
        do throws(IOError) {
            return try FolderLock.isHeld(path)
        } catch {
            throw JournalError(.environment, "\(error); name the daemon's state folder with --state-dir")
        }
    }

    /// The same; nil if unknown, such as for another user's folder.
    var isHeldIfKnown: Bool? {
        do throws(IOError) {
            return try FolderLock.isHeld(path)
        } catch {
            return error.errno == .noSuchFileOrDirectory ? false : nil
        }
    }

    private func report(_ error: JournalError) -> ExitCode {
        let isMended = error.kind == .missing && isHeldIfKnown == true
        StandardError.print(
            "error: "
                + (isMended
                    ? "The journal is missing from '\(path.text)' while a daemon is using it; the daemon restores it "
                        + "within a minute." : error.message))
        // Without a journal nothing can be found; every other failure needs a fix first.
        return error.kind == .missing ? ExitStatus.failure : ExitStatus.configuration
    }
}

import ArgumentParser
import Control
import Dispatch
import Files
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

/// `dropmill forget`: gives up jobs that no daemon can finish.
struct ForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Give up jobs that no daemon can finish; they count as lost.",
        discussion: """
            For jobs of pipelines that are not loaded, and those whose folders are gone, or on a file system that will \
            not come back; while no daemon is running, for any other unfinished job too. A job's folder is moved to \
            'astray' in the work folder, never deleted. \
            Exits with status 1 if a job could not be given up.

            Example: two jobs on a disk that is gone for good:

              dropmill forget 01HZX2 01HZX3
            """)

    @Argument(
        help: "Ids of jobs or their beginnings, or drops' names (for the newest job).", completion: Completion.jobs)
    var jobs: [String]

    @OptionGroup var state: StateArguments

    func run() throws {
        let folder = state.folder
        guard folder.shared == nil else {
            StandardError.print("error: 'forget' does not work with a shared journal yet")
            throw ExitStatus.configuration
        }
        var hasFailed = false
        let lines = try folder.write { journal throws(JournalError) in
            let isRunning = try folder.isHeld()
            let works = Dictionary(try journal.pipelines().map { ($0.name, $0.works) }) { first, _ in first }
            let lookout = Lookout(label: "dropmill.forgetting")
            var lines: [Result<String, Problem>] = []
            for text in jobs {
                lines.append(try Self.forget(text, in: folder, journal, works, isRunning: isRunning, lookout))
            }
            return lines
        }
        for line in lines {
            switch line {
            case .success(let text): print(text)
            case .failure(let problem):
                hasFailed = true
                StandardError.print("error: \(problem.text)")
            }
        }
        if hasFailed { throw ExitStatus.failure }
    }

    private struct Problem: Error {
        let text: String
    }

    /// Why the daemon that runs would not have it given up; nil where it would, or does not answer.
    private static func presence(of job: JobID, in folder: StateFolder) -> String? {
        do throws(ControlClient.Problem) {
            let answer = try ControlClient.ask(
                PreviewVerb.self, .init(change: .forget, jobs: [job.text]), in: folder.path)
            return answer.results.first?.refusal
        } catch {
            return nil
        }
    }

    /// How many seconds are waited for a work folder.
    private static let patience = 3.0

    private static func forget(
        _ text: String, in folder: StateFolder, _ journal: any Journal, _ works: [String: [WorkPlace]],
        isRunning: Bool, _ lookout: Lookout
    ) throws(JournalError) -> Result<String, Problem> {
        let record: JobRecord
        switch try JobFinder.find(text, in: journal) {
        case .found(let found): record = found
        case .nothing(let reason): return .failure(Problem(text: reason))
        }
        let subject = "\(record.id) ('\(record.drop.path)')"
        guard !record.state.isFinal else {
            return .failure(
                Problem(text: "job \(subject) is finished (\(record.word)); there is nothing to forget"))
        }
        // One that another pipeline takes over is in a work folder that is not its own pipeline's any more.
        if isRunning, !record.isLeftAlone, let reason = Self.presence(of: record.id, in: folder) {
            return .failure(Problem(text: "job \(subject): \(reason)"))
        }
        let places = (works[record.pipeline] ?? []).map(\.path)
        // A look at a dead mount may never come back.
        let look = lookout.attempt(until: .now() + patience) { [path = record.folder] mayLook in
            places.first { mayLook($0) && WorkFolder.holds(path, below: $0) }
        }
        let found = if case .over(let place) = look { place } else { FilePath?.none }
        let isSilent = if case .silent = look { true } else { false }
        if isSilent, isRunning, !record.isLeftAlone {
            let remedy = "mount its file system again, or stop the daemon, which may have the job, and try again"
            return .failure(Problem(text: "job \(subject): its work folder does not answer; \(remedy)"))
        }
        var lock: FolderLock?
        // Whoever has its work folder will finish it; of a pipeline that is not loaded nobody has.
        if let found, isRunning, !record.isLeftAlone {
            do throws(FolderError) {
                lock = try FolderLock(found, describedAs: "the work folder")
            } catch {
                let remedy = "the daemon will finish it; stop the daemon first, or wait"
                return .failure(Problem(text: "job \(subject) has its folder in '\(found.text)': \(remedy)"))
            }
        }
        defer { lock?.release() }
        // Whoever had it before this lock may have changed it.
        if let now = try journal.job(record.id), now != record {
            return .failure(Problem(text: "job \(subject) has gone on meanwhile (\(now.word)); look again"))
        }
        return try folder.change("forget", ["jobs": [record.id.text]], in: journal) { () throws(JournalError) in
            // A start that finds it there again keeps it.
            var note = isSilent ? "; its folder does not answer, and stays where it is" : ""
            do throws(IOError) {
                if let found {
                    let kept = try WorkFolder.setAside(record.folder, of: record.id, below: found)
                    note = "; its folder is kept in '\(kept.text)'"
                }
            } catch {
                return (.failure(Problem(text: "job \(subject): \(error)")), "failed: \(error)")
            }
            var given = record
            given.giveUp(at: .now())
            try journal.write([given], pipelines: [])
            return (.success("\(record.id) \(record.drop.path) given up\(note)"), "given up\(note)")
        }
    }
}

import ArgumentParser
import Control
import Journal

/// `dropmill show`: one job's whole story.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one job: what happened when, where its files are, why it failed and what to do.",
        discussion: """
            Exits with status 1 if there is no such job.

            Example: the newest job of a file:

              dropmill show report.pdf
            """)

    @Argument(
        help: "A job's id or the beginning of it, or a drop's name (for its newest job).", completion: Completion.jobs)
    var job: String

    @OptionGroup var state: StateArguments
    @OptionGroup var journal: JournalOption

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let folder = state.folder.with(journal)
        let (match, story) = try folder.read { journal throws(JournalError) in
            try Self.find(job, in: journal, isRunning: folder.isAtWork(journal))
        }
        guard var story else {
            if case .nothing(let message) = match { StandardError.print("error: \(message)") }
            throw ExitStatus.failure
        }
        if !story.record.state.isFinal, folder.shared == nil, folder.isHeldIfKnown == true {
            story.surroundings.loaded = InboxLook.asking(folder.path, limit: 0).loaded
        }
        if json {
            print(
                JobJSON.story(
                    story.record, retries: story.retries, replays: story.replays,
                    stages: story.pipeline?.stages ?? [], story.surroundings))
        } else {
            for line in story.lines(now: .now()) { print(line) }
        }
    }

    static func find(
        _ text: String, in journal: any JournalReading, isRunning: Bool? = nil
    ) throws(JournalError) -> (match: JobFinder.Match, story: JobStory?) {
        let match = try JobFinder.find(text, in: journal)
        guard case .found(let record) = match else { return (match, nil) }
        var (retried, replayed) = (JobQuery(), JobQuery())
        retried.retryOf = record.id
        replayed.replayOf = record.id
        let (retries, replays) = (try journal.jobs(retried), try journal.jobs(replayed))
        let pipeline = try journal.pipelines().first { $0.name == record.pipeline }
        let surroundings = try JobSurroundings(journal, isRunning: isRunning)
        return (
            match,
            JobStory(
                record: record, retries: retries, replays: replays, pipeline: pipeline, surroundings: surroundings)
        )
    }
}

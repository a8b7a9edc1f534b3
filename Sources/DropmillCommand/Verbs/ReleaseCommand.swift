import ArgumentParser
import Control
import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit

/// `dropmill release`: jobs that are not to be processed here and now.
struct ReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Send the drops of unfinished jobs back to their inboxes.",
        discussion: """
            For pipelines that were removed or are paused; one that is at work would claim them again at once, and is \
            refused. A job whose stage is running is refused, too. Each drop gets its own name, numbered if that is \
            taken; what stages made of it goes. Where no daemon runs this does it. Exits with status 1 if a job could \
            not be released, or none was found. Where nodes share a journal the one that has a job does it.

            Example: what a pipeline that is gone for good has left, first to see, then to do:

              dropmill release --pipeline scans --dry-run
              dropmill release --pipeline scans
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup var option: StateFolderOption
    @OptionGroup var node: NodeOption

    private var folder: StateFolder { option.folder.with(node.journal) }

    func validate() throws {
        if selection.isEmpty { throw ValidationError("name jobs, or choose some, such as by --pipeline") }
    }

    func run() throws {
        // Each may need several syncs.
        let jobs = UnfinishedJobs(
            selection: selection, folder: folder, node: node.name, kind: .release, most: 100)
        try jobs.carryOut { ids throws(ExitCode) in
            let answer = try Self.release(ids, in: folder)
            return (answer.results.map { ($0.job, $0.isReleased, $0.text) }, nil)
        }
    }

    private static func release(_ ids: [JobID], in folder: StateFolder) throws(ExitCode) -> ReleaseVerb.Answer {
        guard folder.shared == nil else {
            let (answers, left) = try folder.askingNodes { asking throws(JournalError) in
                try asking.ask(ReleaseVerb.self, of: ids) { .init(jobs: $0.map(\.text)) }
            }
            return .init(
                results: answers.flatMap(\.results)
                    + left.map { .init(job: $0.id.text, isReleased: false, text: $0.reason) })
        }
        return try DaemonRequest.ask(ReleaseVerb.self, .init(jobs: ids.map(\.text)), in: folder) {
            journal throws(JournalError) in
            let writer = JournalWriter(journal: journal)
            let (release, person) = (LoneRelease(journal, writer), AccountName.user(geteuid()))
            let results = ids.map { ReleaseVerb.Result($0, release.release($0, by: person)) }
            try writer.close()
            return .success(.init(results: results))
        }
    }
}

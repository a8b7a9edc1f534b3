import ArgumentParser
import Glibc
import PipelineKit
import SystemPackage

/// `dropmill explain`: what happens to a file, and what it waits for.
struct ExplainCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show which pipeline takes a file, by which rule, what it waits for and what will happen to it.",
        discussion: """
            The file need not exist: a bare name is treated as if it were dropped into every inbox. A running daemon \
            is queried; without one the file is watched for a moment. Exits with status 1 if no pipeline takes it.

            Example: why is this one still there?

              dropmill explain /srv/scans/inbox/report.pdf
            """)

    @Argument(help: "A file's path, or just a name.", completion: .file(), transform: RawArguments.path)
    var file: FilePath

    @OptionGroup var pipelines: PipelineArguments
    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object: 'file', 'pipelines' and 'job'.")
    var json = false

    func run(with stages: StageRegistry) throws {
        // Somebody may open for writing what a lease was just taken on; the signal of that would end the program.
        signal(SIGIO, SIG_IGN)
        let pipelines = try pipelines.loadOrReport(stages)
        let folders = PipelineFolders(pipelines)
        let explanation = Explanation(
            of: file, among: folders, state: state.folder(for: self.pipelines.paths), now: .now())
        if json { print(explanation.json) } else { for line in explanation.lines { print(line) } }
        if !explanation.isTaken { throw ExitStatus.failure }
    }
}

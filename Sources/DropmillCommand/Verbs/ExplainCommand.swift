import ArgumentParser
import Files
import Glibc
import PipelineConfig
import PipelineKit
import SystemPackage

/// `dropmill explain`: what happens to a file, and what it waits for.
struct ExplainCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show which pipeline takes a file, by which rule, what it waits for and what will happen to it.",
        discussion: """
            The file need not exist: a bare name is treated as if it were dropped into every inbox. A running daemon \
            is queried, and without PIPELINES its own are explained; where their files have changed, also as they will \
            be after a reload. Without a daemon the file is watched for a moment. Exits with status 1 if no pipeline \
            takes it.

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
        let report = try report(PipelineArguments.loader(stages))
        if json { print(report.json) } else { for line in report.lines { print(line) } }
        if !report.explanation.isTaken { throw ExitStatus.failure }
    }

    /// Of the pipelines that were named; without any of those that a running daemon has.
    private func report(_ loader: PipelineLoader) throws(ExitCode) -> ExplanationReport {
        let folder = state.folder(for: pipelines.paths)
        let inForce = pipelines.paths.isEmpty ? FilesInForce(asking: folder) : nil
        let files = PipelineLoader.read(inForce?.given ?? pipelines.given)
        var (news, problems) = ([Pipeline]?.none, ConfigProblems?.none)
        do throws(ConfigProblems) { news = try loader.load(files) } catch { problems = error }
        let loaded = inForce?.pipelines(by: loader)
        guard let shown = loaded ?? news else {
            StandardError.print(problems?.description ?? "")
            throw ExitStatus.configuration
        }
        let now = Timestamp.now()
        func explanation(_ pipelines: [Pipeline], _ state: StateFolder?) -> Explanation {
            Explanation(of: file, among: PipelineFolders(pipelines), state: state, now: now)
        }
        var report = ExplanationReport(explanation: explanation(shown, folder))
        guard let inForce, !inForce.differences.isEmpty else { return report }
        report.differences = inForce.differences
        report.isOfFiles = loaded == nil
        report.problems = problems?.all ?? []
        if let loaded, let after = news.map({ explanation($0, nil) }),
            after.lines != explanation(loaded, nil).lines
        {
            report.after = after
        }
        return report
    }
}

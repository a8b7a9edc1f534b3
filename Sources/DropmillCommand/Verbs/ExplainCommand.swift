import ArgumentParser
import Dispatch
import Files
import Glibc
import PipelineConfig
import PipelineEngine
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
    @OptionGroup var journal: JournalOption

    @Flag(help: "Print one JSON object: 'file', 'pipelines' and 'job'.")
    var json = false

    func run(with stages: StageRegistry) throws {
        // Somebody may open for writing what a lease was just taken on; the signal of that would end the program.
        signal(SIGIO, SIG_IGN)
        let report = try report(stages)
        if json { print(report.json) } else { for line in report.lines { print(line) } }
        if !report.explanation.isTaken { throw ExitStatus.failure }
    }

    /// Of the pipelines that were named; without any of those that a running daemon has.
    private func report(_ stages: StageRegistry) throws(ExitCode) -> ExplanationReport {
        let folder = state.folder(for: pipelines.paths).with(journal)
        let inForce = pipelines.paths.isEmpty ? FilesInForce(asking: folder) : nil
        let silent = (inForce ?? FilesInForce(asking: folder))?.silent ?? []
        let reading = try PipelineArguments.reading(inForce?.given ?? pipelines.given, stages, but: silent)
        let loaded = inForce?.pipelines(by: PipelineArguments.loader(stages))
        let shown = if let loaded { loaded } else { try PipelineArguments.orReport(reading.pipelines) }
        let lookout = Lookout(label: "dropmill.explaining")
        let path = file.absolute.lexicallyNormalized()
        let isSilent = reading.silent.contains { path.starts(with: $0.place.absolute.lexicallyNormalized()) }
        let outcome = lookout.attempt(until: .now() + Self.patience) { [file] mayLook in
            !isSilent && mayLook(file)
                ? Self.report(of: file, shown, reading.pipelines, inForce, isLoaded: loaded != nil, folder) : nil
        }
        guard case .over(let report?) = outcome else {
            StandardError.print("error: '\(file.text)' does not answer; mount its file system again")
            throw ExitStatus.busy
        }
        return report
    }

    /// How many seconds are waited for what is to be looked at: longer than a file is watched.
    private static let patience = 15.0

    private static func report(
        of file: FilePath, _ shown: [Pipeline], _ read: Result<[Pipeline], ConfigProblems>, _ inForce: FilesInForce?,
        isLoaded: Bool, _ folder: StateFolder
    ) -> ExplanationReport {
        let now = Timestamp.now()
        func explanation(_ pipelines: [Pipeline], _ state: StateFolder?) -> Explanation {
            Explanation(of: file, among: PipelineFolders(pipelines), state: state, now: now)
        }
        var report = ExplanationReport(explanation: explanation(shown, folder))
        let differences = inForce?.differences.filter { $0.kind != .silent } ?? []
        guard !differences.isEmpty else { return report }
        report.differences = differences
        report.isOfFiles = !isLoaded
        do throws(ConfigProblems) {
            let new = try read.get()
            let after = explanation(new, nil)
            let own = Set(after.accounts.map(\.pipeline.name))
            let changes = PipelineChange.changes(from: shown, to: new).filter {
                own.contains($0.pipeline) && $0.kind != .unchanged
            }
            if isLoaded { report.change = changes.first.map { "\($0.pipeline) \($0.text)" } }
            if isLoaded, after.lines != explanation(shown, nil).lines { report.after = after }
        } catch {
            report.problems = error.all
        }
        return report
    }
}

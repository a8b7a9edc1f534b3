import ArgumentParser
import Control
import PipelineConfig
import PipelineKit

/// `dropmill reload`: the daemon reads its pipeline files again.
struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Have the running daemon read its pipeline files again.",
        discussion: """
            All files are taken, or none. Prints what became of each pipeline once that is in force; jobs are not \
            waited for. Exits with status 78 if the files have problems, which are listed, and with 75 if the daemon \
            is stopping; then nothing is changed.

            Example: check what you have written, then use it:

              dropmill check && dropmill reload
            """)

    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object: 'changes' or 'problems'.")
    var json = false

    func run() throws {
        let answer: ReloadVerb.Answer
        do throws(ControlClient.Problem) {
            answer = try DaemonRequest.ask(ReloadVerb.self, Nothing(), in: state.folder)
        } catch {
            if json { print(ControlLine.text(of: ReloadVerb.Answer(problems: [error.message]))) }
            throw DaemonRequest.failed(error)
        }
        if json {
            print(ControlLine.text(of: answer))
        } else {
            for line in answer.lines { print(line) }
            for warning in answer.warnings ?? [] { StandardError.print("warning: \(warning)") }
            for problem in answer.problems { StandardError.print(problem) }
        }
        guard answer.changes == nil else { return }
        if !json { StandardError.print("error: the reload is refused; nothing is changed") }
        throw answer.stopping == true ? ExitStatus.busy : ExitStatus.configuration
    }
}

import ArgumentParser
import Control
import Files
import Glibc

/// `dropmill prune`: removes originals that are to be kept no longer, now.
struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Have the running daemon remove the originals that its pipelines are to keep no longer.",
        discussion: """
            What goes is said by 'keep' in a pipeline's file; the daemon removes it by itself every hour. Only what it \
            has left there, and what still is that file, goes, with what lies beside it. Prints each with its age, its \
            size and the rule by which it goes. Ctrl-C ends it with the step that is under way. Exits with status 1 if \
            something could not be removed.

            Example: what would go now from one pipeline:

              dropmill prune --dry-run --pipeline scans
            """)

    @Option(help: ArgumentHelp("Only of this pipeline. (default: all)", valueName: "name"))
    var pipeline: String?

    @Flag(help: "Only print what would be removed.")
    var dryRun = false

    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object for each, and one at the end.")
    var json = false

    func run() throws {
        var total = PruneTotal()
        var cursor: String?
        repeat {
            let answer: PruneVerb.Answer
            do throws(ControlClient.Problem) {
                answer = try DaemonRequest.ask(
                    PruneVerb.self, .init(pipeline: pipeline, isDry: dryRun, cursor: cursor), in: state.folder)
            } catch {
                throw DaemonRequest.failed(error)
            }
            for original in answer.removed { print(json ? ControlLine.text(of: original) : original.line(at: .now())) }
            for trouble in answer.troubles { StandardError.print("error: \(EscapedText.printable(trouble))") }
            // It is gone: who ends this is to know.
            fflush(nil)
            total.add(answer)
            cursor = answer.cursor
        } while cursor != nil
        print(json ? ControlLine.text(of: total) : total.text(isDry: dryRun))
        if total.troubles > 0 { throw ExitStatus.failure }
    }
}

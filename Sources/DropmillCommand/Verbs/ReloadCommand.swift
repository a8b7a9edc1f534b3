import ArgumentParser
import Control
import Journal
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
            is stopping; then nothing is changed. Where nodes share a journal this host's daemon is asked, or with \
            --node another one, or all: each takes its own files, or none, and status 1 says that one did not answer.

            Example: check what you have written, then use it:

              dropmill check && dropmill reload
            """)

    @OptionGroup var state: StateArguments
    @OptionGroup var node: NodeOption

    @Flag(help: "Print one JSON object: 'changes' or 'problems'; with --node 'nodes', each with its 'answer'.")
    var json = false

    func run() throws {
        if node.given != nil { return try reloadNodes() }
        let answer: ReloadVerb.Answer
        do throws(ControlClient.Problem) {
            answer = try DaemonRequest.ask(
                ReloadVerb.self, Nothing(), in: state.folder.with(node.journal), orNode: true)
        } catch {
            if json { print(ControlLine.text(of: ReloadVerb.Answer(problems: [error.message]))) }
            throw DaemonRequest.failed(error)
        }
        if json { print(ControlLine.text(of: answer)) } else { Self.tell(answer) }
        if let status = Self.status(answer) { throw status }
    }

    /// `node`: which one it is, where several are asked.
    private static func tell(_ answer: ReloadVerb.Answer, of node: String? = nil) {
        let start = node.map { "\($0): " } ?? ""
        for line in answer.lines { print("\(start)\(line)") }
        for warning in answer.warnings ?? [] { StandardError.print("\(start)warning: \(warning)") }
        for problem in answer.problems { StandardError.print("\(start)\(problem)") }
        if answer.changes == nil { StandardError.print("\(start)error: the reload is refused; nothing is changed") }
    }

    /// Nil where it was taken.
    private static func status(_ answer: ReloadVerb.Answer) -> ExitCode? {
        guard answer.changes == nil else { return nil }
        return answer.stopping == true ? ExitStatus.busy : ExitStatus.configuration
    }

    private func reloadNodes() throws(ExitCode) {
        let answers = try state.folder.with(node.journal).askingNodes { asking throws(JournalError) in
            try asking.ask(ReloadVerb.self, Nothing(), of: asking.nodes(node.name))
        }
        var statuses: [ExitCode] = []
        var told: [ToldByNode] = []
        for (asked, result) in answers {
            let node = asked.printable
            switch result {
            case .success(let answer):
                told.append(ToldByNode(node: node, answer: answer))
                if !json { Self.tell(answer, of: node) }
                if let status = Self.status(answer) { statuses.append(status) }
            case .failure(let problem):
                told.append(ToldByNode(node: node, answer: ReloadVerb.Answer(problems: [problem.message])))
                if !json { StandardError.print("error: \(node): \(problem.message)") }
                statuses.append(ExitStatus.failure)
            }
        }
        if json { print(ControlLine.text(of: ["nodes": told])) }
        // What a person has to mend first.
        let worst = statuses.max { $0.rawValue < $1.rawValue }
        if let worst { throw worst }
    }

    private struct ToldByNode: Encodable {
        let node: String
        let answer: ReloadVerb.Answer
    }
}

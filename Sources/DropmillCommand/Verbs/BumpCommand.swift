import ArgumentParser
import Control
import Dispatch
import Files
import Journal
import PipelineKit

/// `dropmill bump`: what cannot wait, and what can.
struct BumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bump",
        abstract: "Put a job or a drop first in its line, or last.",
        discussion: """
            A job is put before all others that wait for the same stage, a drop before all others that wait to be \
            claimed. The running daemon does it, and keeps it in memory: after a restart or a reload the usual order \
            holds. Where nodes share a journal the one that has the job does it; a drop is put first on the nodes in \
            whose line it is, or on the one that --node names. Exits with status 1 if it does not wait in a line.

            Example: this one is urgent:

              dropmill bump /srv/scans/inbox/report.pdf
            """)

    @Argument(
        help: "A job's id or the beginning of it, a drop's path, or its name.", completion: .file())
    var waiting: String

    @Flag(help: "Behind all others that wait; a drop behind those that come later, too.")
    var last = false

    @OptionGroup var state: StateFolderOption
    @OptionGroup var node: NodeOption

    /// How many seconds are waited for inboxes.
    private static let patience = 10.0

    func run() throws {
        let folder = state.folder.with(node.journal)
        // Where one does not answer the daemon is asked in vain, and so is the file system.
        let answering: Set<String>?
        if folder.shared == nil {
            let look = InboxLook.asking(folder.path, limit: 0)
            answering = look.loaded?.subtracting(look.silent).subtracting(look.busy)
        } else {
            answering = nil
        }
        let lookout = Lookout(label: "dropmill.finding")
        let outcome = lookout.attempt(until: .now() + Self.patience) { @Sendable [waiting] _ in
            Result { () throws(ExitCode) in
                try folder.read { journal throws(JournalError) in
                    try WaitingFinder.find(waiting, in: journal, loaded: answering)
                }
            }
        }
        guard case .over(let result) = outcome else {
            StandardError.print("error: \(waiting): its file system does not answer; 'dropmill status' says which")
            throw ExitStatus.busy
        }
        switch try result.get() {
        case .failure(let problem): StandardError.print("error: \(problem.message)")
        case .success(let (waiting, name)) where folder.shared != nil:
            return try bump(waiting, called: name, in: folder)
        case .success(let (waiting, name)):
            do throws(ControlClient.Problem) {
                let answer = try DaemonRequest.ask(BumpVerb.self, .init(waiting: waiting, isLast: last), in: folder)
                return print("\(name): \(answer.text)")
            } catch {
                throw DaemonRequest.failed(error, about: name)
            }
        }
        throw ExitStatus.failure
    }

    /// On the nodes that share the journal. A drop waits on each of them, a job on one.
    private func bump(_ waiting: BumpVerb.Waiting, called name: String, in folder: StateFolder) throws(ExitCode) {
        let arguments = BumpVerb.Arguments(waiting: waiting, isLast: last)
        var isDone = false
        switch waiting {
        case .job(let text):
            let (answers, left) = try folder.askingNodes { asking throws(JournalError) in
                try asking.ask(BumpVerb.self, of: [JobID(text)].compactMap(\.self)) { _ in arguments }
            }
            for answer in answers { print("\(name): \(answer.text)") }
            for job in left { StandardError.print("error: \(name): \(job.reason)") }
            isDone = left.isEmpty
        case .drop:
            let answers = try folder.askingNodes { asking throws(JournalError) in
                try asking.ask(BumpVerb.self, arguments, of: asking.nodes(node.name))
            }
            for (node, result) in answers {
                switch result {
                case .success(let answer):
                    print("\(name) on \(node.printable): \(answer.text)")
                    isDone = true
                case .failure(let problem): StandardError.print("error: \(node.printable): \(problem.message)")
                }
            }
        }
        if !isDone { throw ExitStatus.failure }
    }
}

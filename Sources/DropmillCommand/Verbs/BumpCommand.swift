import ArgumentParser
import Journal

/// `dropmill bump`: what cannot wait, and what can.
struct BumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bump",
        abstract: "Put a job or a drop first in its line, or last.",
        discussion: """
            A job is put before all others that wait for the same stage, a drop before all others that wait to be \
            claimed. The running daemon does it, and keeps it in memory: after a restart or a reload the usual order \
            holds. Exits with status 1 if it does not wait in a line.

            Example: this one is urgent:

              dropmill bump /srv/scans/inbox/report.pdf
            """)

    @Argument(
        help: "A job's id or the beginning of it, a drop's path, or its name.", completion: .file())
    var waiting: String

    @Flag(help: "Behind all others that wait; a drop behind those that come later, too.")
    var last = false

    @OptionGroup var state: StateFolderOption

    func run() throws {
        let folder = state.folder
        let loaded = InboxLook.asking(folder.path, limit: 0).loaded
        let found = try folder.read { journal throws(JournalError) in
            try WaitingFinder.find(waiting, in: journal, loaded: loaded)
        }
        switch found {
        case .failure(let problem): StandardError.print("error: \(problem.message)")
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
}

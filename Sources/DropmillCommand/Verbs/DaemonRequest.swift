import ArgumentParser
import Control
import Glibc
import Journal
import PipelineEngine
import PipelineKit

/// What only a running daemon can do, or what it does where one runs.
enum DaemonRequest {
    /// `orNode`: whether it can be asked of any node as well.
    static func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, in folder: StateFolder, orNode: Bool = false
    ) throws(ControlClient.Problem) -> Verb.Answer {
        guard folder.isHeldIfKnown != false else {
            throw ControlClient.Problem(
                message: "no daemon runs with the state folder '\(folder.path.text)'; name another with --state-dir"
                    + (orNode && folder.shared != nil ? ", or a node with --node" : ""))
        }
        return try ControlClient.ask(verb, arguments, in: folder.path, whenLate: sayThatItWaits)
    }

    /// To a person, who else would see nothing for a minute.
    private static func sayThatItWaits(_ seconds: Int) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        StandardError.print("waiting for the daemon's answer, for \(seconds) s at most …")
    }

    /// The same; where no daemon runs `body` does it, with the state folder locked, and it goes on record as a daemon
    /// has it. What is wrong is printed, and the exit status thrown. `sharedByAnyone`: in a journal that nodes share it
    /// is done by `body` whether one runs here or not.
    static func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, in folder: StateFolder, sharedByAnyone: Bool = false,
        alone body: (any Journal) throws(JournalError) -> Result<Verb.Answer, ControlProblem>
    ) throws(ExitCode) -> Verb.Answer {
        func ask() throws(ExitCode) -> Verb.Answer {
            do throws(ControlClient.Problem) {
                return try ControlClient.ask(verb, arguments, in: folder.path, whenLate: sayThatItWaits)
            } catch {
                throw failed(error)
            }
        }
        func write() throws(ExitCode) -> Verb.Answer {
            let result = try folder.write(byAnyone: sharedByAnyone) { journal throws(JournalError) in
                try folder.change(verb.name, arguments, in: journal) { () throws(JournalError) in
                    let result = try body(journal)
                    return (result, verb.result(result))
                }
            }
            do throws(ControlProblem) { return try result.get() } catch { throw failed(.init(message: error.message)) }
        }
        if sharedByAnyone, folder.shared != nil { return try write() }
        guard folder.isHeldIfKnown == false else { return try ask() }
        try folder.refuseShared()
        let lock: FolderLock
        do throws(FolderError) {
            lock = try FolderLock(folder.path, describedAs: "the state folder")
        } catch {
            // One has started meanwhile.
            if error.kind == .locked { return try ask() }
            throw failed(
                folder.isOpen ? .init(message: error.message) : .init(message: folder.closed.message, isForbidden: true)
            )
        }
        defer { lock.release() }
        return try write()
    }

    /// Says what is wrong, `about` something, and returns the exit status for that.
    static func failed(_ problem: ControlClient.Problem, about subject: String? = nil) -> ExitCode {
        StandardError.print("error: \(subject.map { "\($0): " } ?? "")\(problem.message)")
        return problem.isForbidden ? ExitStatus.forbidden : ExitStatus.failure
    }
}

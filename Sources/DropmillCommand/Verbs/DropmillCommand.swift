package import ArgumentParser
import Dropmill
import Files
import Glibc
package import PipelineKit

/// The program: `dropmill` and a verb.
package struct DropmillCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "dropmill",
        abstract: "A hot-folder daemon: runs what is dropped into a folder through the stages of a YAML file.",
        discussion: """
            Example: create a first pipeline, check it and run it:

              dropmill init
              dropmill check
              dropmill run
            """,
        version: BuildVersion.text,
        subcommands: [
            RunCommand.self, CheckCommand.self, ExplainCommand.self, StatusCommand.self, HealthCommand.self,
            MetricsCommand.self, JobsCommand.self, NodesCommand.self, FailuresCommand.self, ShowCommand.self,
            ReloadCommand.self,
            PauseCommand.self, DrainCommand.self, ResumeCommand.self,
            CancelCommand.self, ReleaseCommand.self, BumpCommand.self, AuditCommand.self, RetryCommand.self,
            ReplayCommand.self, HaltCommand.self, DismissCommand.self, ForgetCommand.self,
            PruneCommand.self, JournalCommand.self,
            ServeCommand.self, TokenCommand.self, DoctorCommand.self, NotifyCommand.self,
            StagesCommand.self, InitCommand.self, ManCommand.self,
        ])

    package init() {}

    /// Runs the verb that the command line names, with these kinds of stages, and ends the process.
    package static func main(stages: StageRegistry) -> Never {
        // Without it glibc stats /etc/localtime for every time that it converts: twice for an archive's entry.
        setenv("TZ", ":/etc/localtime", 0)
        // libdispatch wants a higher priority for its thread of timers, and logs at each start that it may not have it.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        helperMain(stages)
        var stages = stages
        OwnHelpers.add(to: &stages.services)
        StandardOutput.prepare()
        let arguments = RawArguments.all
        // `help` takes a verb too.
        if let problem = unknownVerb(arguments.first { $0 != "help" }) {
            StandardError.print(StandardError.line(of: problem))
            exit(withError: ExitCode.validationFailure)
        }
        if arguments == ["--version"] {
            print(BuildVersion.details)
            end(nil)
        }
        do {
            var command = try parseAsRoot(arguments)
            if let verb = command as? any StageVerb { try verb.run(with: stages) } else { try command.run() }
        } catch {
            if let problem = unsharedVerb(arguments, fullMessage(for: error)) {
                StandardError.print("error: \(problem)")
                exit(withError: ExitCode.validationFailure)
            }
            end(error)
        }
        end(nil)
    }

    private static func end(_ error: (any Error)?) -> Never {
        let code = error.map { exitCode(for: $0) } ?? .success
        // Help and the version are results like any other.
        if let error, code == .success { print(fullMessage(for: error)) }
        if let problem = StandardOutput.finish() {
            StandardError.print("error: cannot write to standard output: \(problem)")
            exit(withError: ExitStatus.unwritten)
        }
        guard let error, code != .success else { exit() }
        // An error that no verb has turned into a status is a bug.
        guard code == .failure, !(error is ExitCode) else { exit(withError: error) }
        StandardError.print("error: a bug in Dropmill: \(error); please report it")
        exit(withError: ExitStatus.software)
    }

    /// That a verb does not work with what other verbs call the journal; nil where that is not what the message says.
    static func unsharedVerb(_ arguments: [String], _ message: String) -> String? {
        guard let verb = arguments.first, message.contains("Unknown option '--journal'") else { return nil }
        return "'\(verb)' does not work with a shared journal yet; without --journal it asks the daemon of this host"
    }

    /// What is wrong with a word in a verb's place; nil for nothing.
    static func unknownVerb(_ word: String?) -> String? {
        let verbs = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let word, !word.hasPrefix("-"), !(verbs + ["help"]).contains(word) else { return nil }
        let shown = configuration.subcommands.compactMap { verb in
            verb.configuration.shouldDisplay ? verb.configuration.commandName : nil
        }
        let meant = Suggestion.nearest(to: word, among: shown).map { "did you mean '\($0)'?" }
        return "unknown verb '\(EscapedText.of(RawArguments.bytes(of: word)))'; "
            + (meant ?? "known verbs: \(shown.joined(separator: ", "))")
    }
}

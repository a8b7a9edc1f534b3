import ArgumentParser
import Control
import Files

/// `dropmill notify --test`: whether messages arrive.
struct NotifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract:
            "Have the running daemon send a test notification, and print what the receiver answered.",
        discussion: """
            Sends a message that says that nothing has happened by each entry of 'notify' in dropmill.yaml, or by one; \
            to a dead man's switch how the daemon is. It is the daemon that sends, with its rights and its secrets, \
            and by what is in force. Exits with status 1 if one was not taken.

            Example:

              dropmill notify --test 2
            """)

    @Flag(help: "Send messages; without it nothing is done.")
    var test = false

    @Argument(help: "The entry of 'notify', counted from 1. (default: all)")
    var entry: Int?

    @OptionGroup var state: StateArguments

    @Flag(help: "Print one JSON object: 'outcomes'.")
    var json = false

    func validate() throws {
        guard test else { throw ValidationError("say --test: it sends messages") }
    }

    func run() throws {
        let answer: NotifyVerb.Answer
        do throws(ControlClient.Problem) {
            answer = try DaemonRequest.ask(NotifyVerb.self, .init(entry: entry), in: state.folder)
        } catch {
            throw DaemonRequest.failed(error)
        }
        if json {
            print(ControlLine.text(of: answer))
        } else {
            for outcome in answer.outcomes { print(EscapedText.printable(outcome.text)) }
        }
        if !answer.outcomes.allSatisfy(\.taken) { throw ExitStatus.failure }
    }
}

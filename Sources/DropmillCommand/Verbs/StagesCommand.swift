import ArgumentParser
import PipelineKit

/// `dropmill stages`: the stage kinds, as their own descriptors tell.
struct StagesCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "stages",
        abstract: "List the stage kinds, their options and defaults, with an example of each.",
        discussion: """
            Example:

              dropmill stages checksum
            """)

    @Argument(help: "Only this kind.")
    var kind: String?

    @Flag(help: "Print a JSON array, one object for each kind.")
    var json = false

    @Flag(help: "Print a Markdown table.")
    var markdown = false

    func validate() throws {
        if json, markdown { throw ValidationError("--json and --markdown exclude each other; choose one") }
    }

    func run(with stages: StageRegistry) throws {
        let descriptors = try selected(from: stages)
        if json {
            print(StageListing.json(descriptors))
        } else if markdown {
            print(StageListing.markdown(descriptors))
        } else {
            print(StageListing.text(descriptors))
        }
    }

    private func selected(from stages: StageRegistry) throws(ExitCode) -> [StageDescriptor] {
        let all = stages.descriptors
        guard let kind else { return all }
        let found = all.filter { $0.kind == kind }
        guard found.isEmpty else { return found }
        let kinds = all.map(\.kind)
        let hint = Suggestion.nearest(to: kind, among: kinds).map { "did you mean '\($0)'?" }
        let list = "there are " + kinds.joined(separator: ", ")
        StandardError.print("error: unknown stage '\(EscapedText.of(kind))'; \(hint ?? list)")
        throw ExitStatus.failure
    }
}

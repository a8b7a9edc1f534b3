import ArgumentParser
import Files
import PipelineKit

/// `dropmill stages`: the stage kinds, from their own descriptors.
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

    @Flag(help: "Print Markdown.")
    var markdown = false

    @Flag(help: "Print one line for each kind, without its options.")
    var brief = false

    func validate() throws {
        guard json else { return }
        if markdown { throw ValidationError("--json and --markdown exclude each other; choose one") }
        if brief { throw ValidationError("--json and --brief exclude each other; choose one") }
    }

    func run(with stages: StageRegistry) throws {
        let descriptors = try selected(from: stages)
        switch (json, markdown, brief) {
        case (true, _, _): print(StageListing.json(descriptors))
        case (_, true, true): print(StageListing.briefMarkdown(descriptors))
        case (_, true, false): print(StageListing.markdown(descriptors))
        case (_, false, true): print(StageListing.brief(descriptors))
        case (_, false, false): print(StageListing.text(descriptors))
        }
    }

    private func selected(from stages: StageRegistry) throws(ExitCode) -> [StageDescriptor] {
        let all = stages.descriptors
        guard let kind else { return all }
        let found = all.filter { $0.kind == kind }
        guard found.isEmpty else { return found }
        let kinds = all.map(\.kind)
        let hint = Suggestion.nearest(to: kind, among: kinds).map { "did you mean '\($0)'?" }
        let list = "known stages: " + kinds.joined(separator: ", ")
        StandardError.print("error: unknown stage '\(EscapedText.of(kind))'; \(hint ?? list)")
        throw ExitStatus.failure
    }
}

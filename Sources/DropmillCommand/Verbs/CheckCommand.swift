import ArgumentParser
import Journal
import PipelineConfig
import PipelineEngine
import PipelineKit

/// `dropmill check`: every problem in every pipeline file; starts nothing.
struct CheckCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Report every problem in every pipeline file; start nothing.",
        discussion: """
            Prints each problem as 'path:line:column: error: …' with its remedy and exits with status 78, or prints \
            one line per pipeline if there are none. Without PIPELINES the files of the running daemon are checked. \
            Warns if the journal has unfinished jobs of a pipeline that had the inbox of one of these under another \
            name.

            Example:

              dropmill check pipelines/scans.yaml
            """)

    @OptionGroup var pipelines: PipelineArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var settings: SettingsOption

    @Flag(help: "Print one JSON object: 'pipelines', 'problems' and 'warnings'.")
    var json = false

    @Flag(help: "Print the JSON Schema of pipeline files, for editors; check nothing.")
    var schema = false

    @Flag(help: "Print the JSON Schema of dropmill.yaml; check nothing.")
    var settingsSchema = false

    func run(with stages: StageRegistry) throws {
        if settingsSchema { return print(SettingsSchema.json) }
        if schema { return print(PipelineSchema(stages).json) }
        let inForce = pipelines.paths.isEmpty ? FilesInForce(asking: state.folder) : nil
        let reading = try PipelineArguments.reading(
            inForce?.given ?? pipelines.given,
            settings: settings.given.map { .file($0) } ?? inForce?.settings ?? .beside, stages,
            but: inForce?.silent ?? [], isWarned: false)
        // What could not be checked is no mistake of its file, and none of the others.
        let silent = reading.silent.map(\.problem)
        guard json else {
            let loaded = try PipelineArguments.orReport(reading.pipelines)
            for pipeline in loaded { print(Self.summary(of: pipeline)) }
            for warning in warnings(of: loaded, reading.files, stages) { StandardError.print("warning: \(warning)") }
            for problem in silent { StandardError.print(problem.description) }
            if !silent.isEmpty { throw ExitStatus.busy }
            return
        }
        do throws(ConfigProblems) {
            let loaded = try reading.pipelines.get()
            print(Self.json(loaded, silent, warnings(of: loaded, reading.files, stages)))
        } catch {
            print(Self.json([], error.all + silent))
            throw ExitStatus.configuration
        }
        if !silent.isEmpty { throw ExitStatus.busy }
    }

    /// What is on record of pipelines that may be the same under another name; and what in the settings speaks of none.
    private func warnings(of loaded: [Pipeline], _ files: PipelineFiles, _ stages: StageRegistry) -> [String] {
        let left = state.folder(for: pipelines.paths).peek { journal throws(JournalError) in
            try UnloadedJobs.all(in: journal, but: loaded)
        }
        let settings = try? PipelineArguments.loader(stages).settings(of: files)
        let names = loaded.map(\.name)
        return (left ?? []).filter { $0.heir != nil }.map(\.text) + (settings?.notify.warnings(among: names) ?? [])
    }

    /// `scans: in → unpack → move → done`
    static func summary(of pipeline: Pipeline) -> String {
        let end =
            switch pipeline.processed {
            case .folder(let path): path.shortText
            case .delete: "deleted"
            }
        let steps = [pipeline.inbox.shortText] + pipeline.stages.map(\.kind) + [end]
        return "\(pipeline.name): \(steps.joined(separator: " → "))"
    }

    static func json(_ pipelines: [Pipeline], _ problems: [ConfigProblem], _ warnings: [String] = []) -> String {
        var json = JSONText()
        json.object { json in
            json.array("pipelines") { json in
                for pipeline in pipelines { write(pipeline, &json) }
            }
            json.array("problems") { json in
                for problem in problems {
                    json.object { json in
                        json.name("path", problem.path.bytes)
                        json.integer("line", problem.position.line)
                        json.integer("column", problem.position.column)
                        json.text("message", problem.message)
                    }
                }
            }
            json.array("warnings") { json in
                for warning in warnings { json.text(nil, warning) }
            }
        }
        return json.string
    }

    private static func write(_ pipeline: Pipeline, _ json: inout JSONText) {
        json.object { json in
            json.text("name", pipeline.name)
            json.name("file", pipeline.source.bytes)
            json.name("inbox", pipeline.inbox.bytes)
            switch pipeline.processed {
            case .folder(let path): json.name("processed", path.bytes)
            case .delete: json.text("processed", "delete")
            }
            json.name("failed", pipeline.failed.bytes)
            json.array("stages") { json in
                for stage in pipeline.stages { json.text(nil, stage.kind) }
            }
        }
    }
}

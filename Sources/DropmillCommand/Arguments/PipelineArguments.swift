import ArgumentParser
import Glibc
import PipelineConfig
import PipelineKit
import SystemPackage

/// The `PIPELINES…` of a verb, and how they are loaded.
struct PipelineArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Pipeline files, or folders of *.yaml files.",
            discussion: "Without any, the folder 'pipelines', else '/etc/dropmill/pipelines'.",
            valueName: "pipelines"),
        completion: .file(extensions: ["yaml", "yml"]), transform: RawArguments.path)
    var paths: [FilePath] = []

    /// What is read where nothing is given.
    var given: [FilePath] { paths.isEmpty ? [DefaultPlaces().pipelines] : paths }

    /// What reads them, with these kinds of stages.
    static func loader(_ stages: StageRegistry) -> PipelineLoader {
        PipelineLoader(registry: stages, environment: Environment.variables)
    }

    /// The validated pipelines, of these kinds of stages.
    func load(_ stages: StageRegistry) throws(ConfigProblems) -> [Pipeline] { try Self.loader(stages).load(given) }

    /// The validated pipelines; where there is a problem, all are printed to standard error and the exit status is
    /// thrown.
    func loadOrReport(_ stages: StageRegistry) throws(ExitCode) -> [Pipeline] {
        try Self.load(PipelineLoader.read(given), stages)
    }

    /// The same of files that were read.
    static func load(_ files: PipelineFiles, _ stages: StageRegistry) throws(ExitCode) -> [Pipeline] {
        try orReport { () throws(ConfigProblems) in try loader(stages).load(files) }
    }

    /// What they set for the daemon itself.
    static func settings(of files: PipelineFiles, _ stages: StageRegistry) throws(ExitCode) -> ServiceSettings {
        try orReport { () throws(ConfigProblems) in try loader(stages).settings(of: files) }
    }

    private static func orReport<Value>(_ body: () throws(ConfigProblems) -> Value) throws(ExitCode) -> Value {
        do throws(ConfigProblems) {
            return try body()
        } catch {
            StandardError.print(error.description)
            throw ExitStatus.configuration
        }
    }
}

import ArgumentParser
import Glibc
import PipelineConfig
import PipelineKit
import SystemPackage

/// The `PIPELINES…` of a verb, and how they are loaded.
struct PipelineArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Pipeline files, or folders of *.yaml files.", discussion: "Without any, the folder 'pipelines'.",
            valueName: "pipelines"),
        completion: .file(extensions: ["yaml", "yml"]), transform: RawArguments.path)
    var paths: [FilePath] = []

    /// The validated pipelines, of these kinds of stages.
    func load(_ stages: StageRegistry) throws(ConfigProblems) -> [Pipeline] {
        let paths = paths.isEmpty ? ["pipelines"] : paths
        return try PipelineLoader(registry: stages, environment: Environment.variables).load(paths)
    }

    /// The validated pipelines; where there is a problem, all are printed to standard error and the exit status is
    /// thrown.
    func loadOrReport(_ stages: StageRegistry) throws(ExitCode) -> [Pipeline] {
        do throws(ConfigProblems) {
            return try load(stages)
        } catch {
            StandardError.print(error.description)
            throw ExitStatus.configuration
        }
    }
}

import ArgumentParser
import BuiltinStages
import Glibc
import PipelineConfig
import PipelineKit
import SystemPackage

/// The `PIPELINES…` of a verb, and how they are loaded.
struct PipelineArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Pipeline files, or folders of *.yaml files.", discussion: "Without any: the folder 'pipelines'.",
            valueName: "pipelines"),
        completion: .file(extensions: ["yaml", "yml"]), transform: RawArguments.path)
    var paths: [FilePath] = []

    /// The validated pipelines.
    func load() throws(ConfigProblems) -> [Pipeline] {
        try PipelineLoader(registry: .builtin, environment: Environment.variables).load(paths)
    }

    /// The validated pipelines; where there is a problem, all are printed to standard error and the exit status is
    /// thrown.
    func loadOrReport() throws(ExitCode) -> [Pipeline] {
        do throws(ConfigProblems) {
            return try load()
        } catch {
            StandardError.print(error.description)
            throw ExitStatus.configuration
        }
    }
}

/// The environment that the program was started in.
enum Environment {
    /// The variables whose values are UTF-8.
    static var variables: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            if let text = String(validatingCString: entry), let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        return variables
    }
}

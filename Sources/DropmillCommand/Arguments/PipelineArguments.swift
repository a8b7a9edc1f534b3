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

    /// What reads them, with these kinds of stages. `mayBeNone`: whether there need not be any.
    /// `isShared`: whether nodes share the journal.
    static func loader(_ stages: StageRegistry, mayBeNone: Bool = false, isShared: Bool = false) -> PipelineLoader {
        PipelineLoader(
            registry: stages, environment: Environment.variables, mayBeNone: mayBeNone, isShared: isShared)
    }

    /// Reads and checks pipeline files for a verb. Prints a warning for each pipeline that is left out, if `isWarned`;
    /// where the files themselves cannot be read in time it prints that, and throws the exit status. `silent`: what is
    /// known not to answer.
    static func reading(
        _ paths: [FilePath], settings: SettingsPlace? = nil, _ stages: StageRegistry,
        but silent: [PipelineReading.Silence] = [], isWarned: Bool = true
    ) throws(ExitCode) -> PipelineReading {
        do throws(PipelineReading.Unanswered) {
            let loader = loader(stages, isShared: JournalOption.configured != nil)
            let reading = try PipelineReading(paths, settings: settings, by: loader, but: silent)
            for left in reading.silent where isWarned {
                StandardError.print("warning: \(left.file.text) is left out: \(left.text)")
            }
            return reading
        } catch {
            StandardError.print("error: \(error.message)")
            throw ExitStatus.busy
        }
    }

    /// What was read; where there is a problem, all are printed to standard error and the exit status is thrown.
    static func orReport<Value>(_ result: Result<Value, ConfigProblems>) throws(ExitCode) -> Value {
        do throws(ConfigProblems) {
            return try result.get()
        } catch {
            StandardError.print(error.description)
            throw ExitStatus.configuration
        }
    }
}

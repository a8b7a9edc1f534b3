import ArgumentParser
import Journal
import PipelineEngine
import SystemPackage

/// `--state-dir DIR` of every verb that uses the state folder.
struct StateArguments: ParsableArguments {
    @OptionGroup var option: StateFolderOption

    /// What it was called at first; `jobs` calls a job's state so.
    @Option(name: .customLong("state"), help: .hidden, completion: .directory, transform: RawArguments.path)
    var former: FilePath?

    var folder: StateFolder { folder() }

    /// For a verb that these pipelines were named to.
    func folder(for pipelines: [FilePath] = []) -> StateFolder {
        StateFolder(
            given: option.given ?? former,
            hasPipelines: !pipelines.isEmpty && pipelines != [DefaultPlaces.installed.pipelines])
    }
}

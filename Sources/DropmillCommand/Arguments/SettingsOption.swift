import ArgumentParser
import PipelineConfig
import SystemPackage

/// `--settings FILE`.
struct SettingsOption: ParsableArguments {
    @Option(
        name: .customLong("settings"),
        help: ArgumentHelp(
            "What is set for the daemon itself. (default: dropmill.yaml in the folder of the pipelines or beside it)",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]), transform: RawArguments.path)
    var given: FilePath?

    var place: SettingsPlace { given.map { .file($0) } ?? .beside }
}

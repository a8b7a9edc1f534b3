import ArgumentParser
import Files
import Glibc
import PipelineConfig
import SystemPackage

/// `--token-dir DIR` of the verbs that know tokens.
struct TokenFolderOption: ParsableArguments {
    @Option(
        name: .customLong("token-dir"),
        help: ArgumentHelp(
            "The folder for the tokens. (default: $STATE_DIRECTORY, else /var/lib/dropmill-serve for root, else "
                + ".dropmill-serve)", valueName: "dir"),
        completion: .directory, transform: RawArguments.path)
    var given: FilePath?

    var folder: FilePath {
        if let given { return given }
        if let state = Environment.variables["STATE_DIRECTORY"], !state.isEmpty { return FilePath(state) }
        return geteuid() == 0 ? "/var/lib/dropmill-serve" : ".dropmill-serve"
    }
}

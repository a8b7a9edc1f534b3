import ArgumentParser
import Journal
import PipelineEngine
import SystemPackage

/// `--state-dir DIR` alone.
struct StateFolderOption: ParsableArguments {
    @Option(
        name: .customLong("state-dir"),
        help: ArgumentHelp(
            """
            The folder for the lock and the journal. (default: $DROPMILL_STATE, else .dropmill-state, or \
            /var/lib/dropmill for the pipelines in /etc)
            """,
            valueName: "dir"),
        completion: .directory, transform: RawArguments.path)
    var given: FilePath?

    var folder: StateFolder { StateFolder(given: given) }
}

import BuiltinStages
import CVersion
import PipelineConfig
import PostgresJournal
import SQLiteJournal

enum BuildVersion {
    /// `0.1.0`
    static let number = String(String(cString: dm_version()).split(separator: "\n").first ?? "")

    /// `dropmill 0.1.0`
    static let release = "dropmill \(number)"

    /// `dropmill 0.1.0 (3d6cc2d)`; without the commit if the build did not get one.
    static let text: String = {
        let commit = String(cString: dm_commit())
        return release + (commit.isEmpty ? "" : " (\(commit))")
    }()

    /// The same, with what it was built with and the libraries that it runs with.
    static var details: String {
        let libraries = [
            "Swift \(_SwiftStdlibVersion.current)", SQLiteJournal.libraryVersion, "libyaml \(YAMLLibrary.version)",
        ]
        return ([text] + libraries + StageLibraries.versions + [PostgresLibrary.version].compactMap(\.self))
            .joined(separator: "\n")
    }
}

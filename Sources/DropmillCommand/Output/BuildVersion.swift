import CVersion

enum BuildVersion {
    /// `dropmill 0.1.0 (3d6cc2d)`; without the commit if the build did not get one.
    static let text: String = {
        let version = String(cString: dm_version()).split(separator: "\n").first ?? ""
        let commit = String(cString: dm_commit())
        return "dropmill \(version)" + (commit.isEmpty ? "" : " (\(commit))")
    }()
}

import FoundationEssentials

/// Which files the daemon has its pipelines and settings from, and how they differ from what is in force.
enum FilesVerb: ControlVerb {
    static let name = "files"
    /// They are read, and may be on a slow disk.
    static let patience = 5

    typealias Arguments = Nothing

    struct Answer: Codable, Equatable {
        /// Files and folders that it was started with: absolute paths, in bytes.
        var given: [Data]
        /// The settings file that it was started with; nil: the one that is found.
        var settings: Data?
        /// The pipelines' files that are in force.
        var loaded: [Data]
        var differences: [Difference] = []
    }

    /// A file that is not as it was loaded.
    struct Difference: Codable, Equatable {
        enum Kind: String, Codable {
            case changed, added, gone
            /// It has not begun, since its folders do not answer.
            case silent
        }

        var file: Data
        var kind: Kind
        /// When it was changed last: nanoseconds since 1970.
        var at: Int64?
        /// What does not answer, in bytes.
        var place: Data?
        /// Why it is gone.
        var reason: String?
        /// The text that is in force, for the daemon's own user and root.
        var loaded: String?
    }
}

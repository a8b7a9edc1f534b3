package import FoundationEssentials

/// Which files the daemon has its pipelines and settings from, and how they differ from what is in force.
package enum FilesVerb: ControlVerb {
    package static let name = "files"
    /// They are read, and may be on a slow disk.
    package static let patience = 5

    package typealias Arguments = Nothing

    package struct Answer: Codable, Equatable, Sendable {
        /// Files and folders that it was started with: absolute paths, in bytes.
        package var given: [Data]
        /// The settings file that it was started with; nil: the one that is found.
        package var settings: Data?
        /// The pipelines' files that are in force.
        package var loaded: [Data]
        package var differences: [Difference] = []

        package init(given: [Data], settings: Data? = nil, loaded: [Data], differences: [Difference] = []) {
            self.given = given
            self.settings = settings
            self.loaded = loaded
            self.differences = differences
        }
    }

    /// A file that is not as it was loaded.
    package struct Difference: Codable, Equatable, Sendable {
        package enum Kind: String, Codable {
            case changed, added, gone
            /// It has not begun, since its folders do not answer.
            case silent
        }

        package var file: Data
        package var kind: Kind
        /// When it was changed last: nanoseconds since 1970.
        package var at: Int64?
        /// What does not answer, in bytes.
        package var place: Data?
        /// Why it is gone.
        package var reason: String?
        /// The text that is in force, for the daemon's own user and root.
        package var loaded: String?

        package init(
            file: Data, kind: Kind, at: Int64? = nil, place: Data? = nil, reason: String? = nil, loaded: String? = nil
        ) {
            self.file = file
            self.kind = kind
            self.at = at
            self.place = place
            self.reason = reason
            self.loaded = loaded
        }
    }
}

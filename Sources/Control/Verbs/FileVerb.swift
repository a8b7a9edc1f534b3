package import FoundationEssentials

/// A pipeline's file as it is in force, and how it differs on disk: lines without the secrets in them.
package enum FileVerb: ControlVerb {
    package static let name = "file"
    /// It is read, and may be on a slow disk.
    package static let patience = 8

    package struct Arguments: Codable, Sendable {
        package var pipeline: String

        package init(pipeline: String) { self.pipeline = pipeline }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// Nil where no pipeline of this name is in force.
        package var file: File?

        package init(file: File?) { self.file = file }
    }

    package struct File: Codable, Equatable, Sendable {
        /// An absolute path, in bytes.
        package var path: Data
        /// When what is in force was loaded: nanoseconds since 1970.
        package var loaded: Int64
        package var disk: Disk
        /// When it was changed last on disk.
        package var changed: Int64?
        /// Why it is gone, does not answer or is not shown: a sentence without its full stop.
        package var reason: String?
        package var lines: [Line] = []
        /// How many lines are not told, since there are too many.
        package var more: Int?

        package init(path: Data, loaded: Int64, disk: Disk) {
            self.path = path
            self.loaded = loaded
            self.disk = disk
        }
    }

    /// What is there now.
    package enum Disk: String, Codable, CaseIterable, Sendable {
        case same, changed, gone
        /// It is another one, of which nothing can be shown.
        case unreadable
        /// It does not answer.
        case silent
    }

    package struct Line: Codable, Equatable, Sendable {
        package enum Place: String, Codable, CaseIterable, Sendable { case loaded, disk }

        package var text: String
        /// Where it is; nil: in both.
        package var only: Place?

        package init(text: String, only: Place? = nil) {
            self.text = text
            self.only = only
        }
    }
}

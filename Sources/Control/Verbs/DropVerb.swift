package import FoundationEssentials

/// What one file waits for.
package enum DropVerb: ControlVerb {
    package static let name = "drop"

    package struct Arguments: Codable, Equatable, Sendable {
        /// Whose inbox the file is in.
        package var pipeline: String
        /// Its path from the inbox on, in bytes.
        package var path: Data

        package init(pipeline: String, path: Data) {
            (self.pipeline, self.path) = (pipeline, path)
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// Nil where the file is not known.
        package var drop: WaitingReply?

        package init(drop: WaitingReply? = nil) {
            self.drop = drop
        }
    }
}

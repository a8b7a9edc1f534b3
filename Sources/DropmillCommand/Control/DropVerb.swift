import FoundationEssentials

/// What one file waits for.
enum DropVerb: ControlVerb {
    static let name = "drop"

    struct Arguments: Codable, Equatable {
        /// Whose inbox the file is in.
        var pipeline: String
        /// Its path from the inbox on, in bytes.
        var path: Data
    }

    struct Answer: Codable, Equatable {
        /// Nil where the file is not known.
        var drop: WaitingReply?
    }
}

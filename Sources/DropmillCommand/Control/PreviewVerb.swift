/// What would be refused of a change of jobs; nothing is changed.
enum PreviewVerb: ControlVerb {
    static let name = "preview"
    /// Work folders are looked into.
    static let patience = 20

    enum Change: String, Codable {
        case cancel, release, forget
    }

    struct Arguments: Codable, Equatable {
        var change: Change
        /// Ids.
        var jobs: [String]
    }

    struct Answer: Codable, Equatable {
        /// For each of them, in order.
        var results: [Result]
    }

    struct Result: Codable, Equatable {
        var job: String
        /// Why it would stay as it is; nil where it would not.
        var refusal: String?
    }
}

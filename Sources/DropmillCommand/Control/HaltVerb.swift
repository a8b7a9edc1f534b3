/// Ends a run of `retry` or `replay` after the job at hand.
enum HaltVerb: ControlVerb {
    static let name = "halt"
    static let isChange = true

    struct Arguments: Codable, Equatable {
        var run: String
    }

    typealias Answer = Nothing
}

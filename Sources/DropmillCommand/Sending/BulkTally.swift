import Control

/// What came of a run so far, for the record.
struct BulkTally {
    private let words: (done: String, not: String)
    private var (done, refused) = (0, 0)
    private var lines: [String] = []

    /// More lines do not go on record.
    private static let mostLines = 100

    init(done: String, not: String) { words = (done, not) }

    mutating func add(_ results: [SendingVerb.Result]) {
        refused += results.count { !$0.isDone }
        done += results.count { $0.isDone }
        lines += results.prefix(max(0, Self.mostLines - lines.count)).map(\.line)
    }

    /// `left`: how many are not done yet.
    func text(left: Int) -> String {
        let counts = [(done, words.done), (refused, words.not), (left, "left")].filter { $0.0 > 0 }
        return ([counts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")] + lines).joined(separator: "; ")
    }
}

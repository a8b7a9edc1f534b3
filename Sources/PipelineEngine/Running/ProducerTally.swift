import PipelineKit

/// What became of producers' jobs since the daemon has begun. Pure, and in memory alone.
struct ProducerTally: Sendable, Equatable {
    struct Ends: Sendable, Equatable {
        var processed = 0
        var failed = 0
    }

    private(set) var ends: [String: Ends] = [:]

    /// Those that come when so many are there are counted together.
    private static let most = 10_000

    mutating func end(of producer: String, hasFailed: Bool) {
        let known = ends[producer] != nil || ends.count < Self.most ? producer : FairRule.others
        if hasFailed { ends[known, default: Ends()].failed += 1 } else { ends[known, default: Ends()].processed += 1 }
    }
}

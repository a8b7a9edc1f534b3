package import Files
package import Journal
import PipelineKit

/// What of a pipeline's failures was told: up to which counts, as the journal has them. They are written by the
/// transaction that ends jobs, so that no failure is told twice or never, whenever the daemon dies; and a burst costs
/// no more than one.
package struct FailureDigest: Sendable, Equatable {
    /// How many failed, by code, of which is told.
    package private(set) var mark: [String: UInt64]
    /// When the last of these did that was somebody's to look at then.
    package private(set) var marked: Timestamp
    /// When a message was sent, or put where it waits for that.
    package private(set) var told: Timestamp?

    /// Nothing that was before is told.
    package init(_ figures: Figures, last: Timestamp?, at now: Timestamp) {
        (mark, marked) = (Self.counts(figures), min(last ?? now, now))
    }

    /// How many failed, by code.
    package static func counts(_ figures: Figures) -> [String: UInt64] {
        figures.failures.reduce(into: [:]) { $0[$1.key.code, default: 0] &+= $1.value }
    }

    /// What is not told, the most frequent first. Counts that are less than they were are those of another journal.
    package mutating func pending(_ counts: [String: UInt64]) -> [(code: String, count: UInt64)] {
        for (code, count) in mark where count > counts[code, default: 0] { mark[code] = counts[code] }
        return counts.map { (code: $0.key, count: $0.value - mark[$0.key, default: 0]) }.filter { $0.count > 0 }
            .sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    }

    /// Whether something may be told again.
    package func isOpen(_ digest: Duration, at now: Timestamp) -> Bool {
        Window.isOver(since: told, digest, at: now)
    }

    /// Whether it was told not long ago, so that what comes now is more of it.
    package func isMore(_ digest: Duration, at now: Timestamp) -> Bool {
        told != nil && !Window.isOver(since: told, digest * 3, at: now)
    }

    /// All of it is told, or is nobody's to look at.
    package mutating func take(_ counts: [String: UInt64], last: Timestamp?, at now: Timestamp, isTold: Bool) {
        (mark, marked) = (counts, min(last ?? now, now))
        if isTold { told = now }
    }

    /// A message has left.
    package mutating func sent(at now: Timestamp) { told = now }

    package var json: String {
        var json = JSONText()
        json.object { json in
            json.object("mark") { json in
                for (code, count) in mark.sorted(by: { $0.key < $1.key }) { json.integer(code, count) }
            }
            json.integer("marked", marked.nanoseconds)
            if let told { json.integer("told", told.nanoseconds) }
        }
        return json.string
    }

    /// Nil where the text is none.
    package init?(json: String) {
        guard let members = JSONValue(json)?.object, let counts = members["mark"]?.object,
            let marked: Int64 = members["marked"]?.integer()
        else { return nil }
        mark = counts.compactMapValues { $0.integer() }
        self.marked = Timestamp(nanoseconds: marked)
        told = members["told"]?.integer().map { Timestamp(nanoseconds: $0) }
    }
}

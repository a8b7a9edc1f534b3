package import Files
import Journal
import PipelineKit

/// Since when nothing was processed in a pipeline.
package struct Quiet: Sendable, Equatable {
    /// How many were, of all.
    package private(set) var processed: UInt64
    /// When that last became more; or when it was first looked at.
    package private(set) var since: Timestamp

    package init(processed: UInt64, since: Timestamp) { (self.processed, self.since) = (processed, since) }

    /// How many are now. `end`: when one was over last, for the first look of a run: what came before it was not seen.
    package mutating func observe(_ processed: UInt64, end: Timestamp?, at now: Timestamp) {
        if processed != self.processed { since = end ?? now }
        self.processed = processed
        // The clock was set back.
        since = min(since, now)
    }

    package func isQuiet(for limit: Duration, at now: Timestamp) -> Bool { now - since >= limit }

    var json: String {
        var json = JSONText()
        json.object { json in
            json.integer("processed", processed)
            json.integer("since", since.nanoseconds)
        }
        return json.string
    }

    /// Nil where the value is none.
    init?(_ value: JSONValue) {
        guard let members = value.object, let processed: UInt64 = members["processed"]?.integer(),
            let since: Int64 = members["since"]?.integer()
        else { return nil }
        self.init(processed: processed, since: Timestamp(nanoseconds: since))
    }
}

package import Files
package import PipelineKit

/// What became of an original that was to go.
package struct KeptEnd: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// Dropmill has removed it, by this rule.
        case removed(rule: String)
        /// Somebody else has.
        case gone
        /// It is there, but not as it was left, and is nobody's to remove any more.
        case changed
        /// It is there as it was left.
        case stays
    }

    package let job: JobID
    package let outcome: Outcome

    package init(_ job: JobID, _ outcome: Outcome) { (self.job, self.outcome) = (job, outcome) }
}

extension Transition {
    /// What a job's story says of that.
    package init(_ end: KeptEnd, at time: Timestamp) {
        switch end.outcome {
        case .removed(let rule): self.init(Self.pruned, at: time, note: "its original was removed by \(rule)")
        case .gone: self.init(Self.originalGone, at: time, note: "its original is not where it was left")
        case .changed, .stays:
            self.init(Self.originalChanged, at: time, note: "its original is not as it was left, and stays")
        }
    }
}

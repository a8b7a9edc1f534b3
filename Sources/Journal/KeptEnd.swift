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

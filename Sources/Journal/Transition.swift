package import Files
import SystemPackage

/// One thing that happened to a job.
package struct Transition: Sendable, Hashable {
    /// What: `held`, `claimed`, `begun` (a run of a stage), `done` (a stage), `failed` (a run of a stage), `deferred`,
    /// `queued` (after that), `recovered`, `settling`, …
    package var event: String
    /// When it had happened.
    package var at: Timestamp
    /// The stage's kind, where it is about one.
    package var stage: String?
    /// How long it took, where it took time; of `claimed`, since the drop was first seen.
    package var duration: Duration?
    /// A word for programs, where there is one: what held a drop.
    package var code: String?
    /// A sentence, where there is more to say.
    package var note: String?
    /// How often it happened in a row: such as a stage that failed again and again for the same reason.
    package var times = 1
    /// When it had happened last, where that was more than once.
    package var lastAt: Timestamp?

    /// The events of a drop that something held before its claim; of a stage that a worker has begun with, in place of
    /// which its end comes; and of one that was called off, to be begun again.
    package static let held = "held", begun = "begun", brokenOff = "broken off"

    /// What became of the original of a job that is over.
    package static let pruned = "pruned", originalGone = "original gone", originalChanged = "original changed"

    package init(
        _ event: String, at time: Timestamp, stage: String? = nil, duration: Duration? = nil, code: String? = nil,
        note: String? = nil
    ) {
        self.event = event
        at = time
        self.stage = stage
        self.duration = duration
        self.code = code
        self.note = note
    }

    /// The same happened once more.
    package mutating func repeats(at time: Timestamp) {
        times += 1
        lastAt = time
    }
}

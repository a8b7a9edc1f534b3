package import PipelineKit

extension ReadyGate {
    /// Between two looks at a folder that lacks something: as often as an inbox is looked through without events.
    package static var folderPause: Duration { .seconds(2) }

    /// Before a question that got no answer is asked again: what nobody can answer is not asked all the time.
    package static var untoldPause: Duration { .seconds(30) }

    /// How long until the next look at whether a candidate still lacks that; nil where whoever brings it will say so,
    /// be it an event or an answer that is there.
    static func pause(for lacking: Waiting, _ unit: ReadyRule.Unit) -> Duration? {
        switch lacking {
        case .untold: untoldPause
        case .sibling, .verifying, .reading: nil
        // Nothing tells of what happens inside a dropped folder.
        default: unit == .folder ? folderPause : nil
        }
    }

    /// A sample that is to be taken now.
    package struct Request: Sendable, Equatable {
        /// Of which candidate.
        package let key: DropPath
        /// Whether it may be the deciding one, so that open writers, and what has to come with it, are to be asked for.
        package let deciding: Bool
    }

    /// What a sample led to.
    package enum Decision: Sendable, Equatable {
        /// Not yet; why.
        case waiting(Reason)
        /// Complete, in this state. The candidate is no longer in the gate.
        case ready(Fingerprint)
        /// It is gone, and forgotten.
        case vanished
        /// Never taken as it is; kept in mind until it is touched or vanishes.
        case refused(String)
        /// Empty, and empty files are ignored; looked at again when touched.
        case ignored
        /// Not complete after the time that it may take, in this state; why. The candidate is no longer in the gate.
        case overdue(Fingerprint, Waiting)
    }

    /// Why a candidate waits.
    package enum Reason: Sendable, Equatable {
        /// It has to stand still for the quiet time.
        case quiet
        /// It changed since the last sample.
        case changing
        /// Some process has it open for writing.
        case openWriter
        /// It cannot be opened or examined.
        case blocked
        /// Something that has to come with it is not there, or not right.
        case lacking
    }
}

package import Files

extension ReadyGate {
    /// Between two looks at an incomplete folder: as often as an inbox is polled.
    package static var folderPause: Duration { .seconds(2) }

    /// Before a question without an answer is asked again, so that it is not asked all the time.
    package static var undeterminedPause: Duration { .seconds(30) }

    /// How long until the next look at whether a candidate still lacks that; nil if an event will report its arrival,
    /// be it an event or an answer that is there.
    static func pause(for lacking: Waiting, ofFolder isFolder: Bool) -> Duration? {
        switch lacking {
        case .undetermined: undeterminedPause
        case .sibling, .verifying, .reading: nil
        // No event reports changes inside a dropped folder.
        default: isFolder ? folderPause : nil
        }
    }

    /// A sample that is due.
    package struct Request: Sendable, Equatable {
        /// Of which candidate.
        package let key: DropPath
        /// Whether it may be the deciding one, so that open writers, markers and manifests must be checked.
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
        /// Empty, and empty files are ignored; examined again when touched.
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
        /// A process has it open for writing.
        case openWriter
        /// It cannot be opened or examined.
        case blocked
        /// Something that has to come with it is not there, or not right.
        case lacking
    }
}

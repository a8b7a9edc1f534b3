import Files

/// That nothing moves in a pipeline where something should.
package struct Stall: Sendable, Equatable {
    package enum Place: Sendable {
        case jobs
        /// It is not even seen what is in it.
        case inbox
    }

    package let place: Place
    /// For how long.
    package let time: Duration

    package init(_ place: Place, for time: Duration) { (self.place, self.time) = (place, time) }

    /// `nothing has moved for 12 min`
    package var text: String {
        switch place {
        case .jobs: "nothing has moved for \(time.text)"
        case .inbox: "its inbox has not answered for \(time.text)"
        }
    }

    /// What to do.
    package func remedy(_ pipeline: String) -> String {
        switch place {
        case .jobs: "'dropmill jobs --pipeline \(pipeline)' lists what is at work."
        case .inbox: "See whether its file system answers; a mount whose server is gone can be unmounted (umount -f)."
        }
    }
}

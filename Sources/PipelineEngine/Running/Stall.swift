package import Files
package import PipelineKit

/// That something does not move in a pipeline that should.
package struct Stall: Sendable, Equatable {
    /// What does not move.
    package enum Subject: Sendable, Hashable {
        /// It is not even seen what is in it.
        case inbox
        /// A job that a worker has; the stage's kind.
        case stage(JobID, DropPath, String)
        /// A job that is being settled.
        case settlement(JobID, DropPath)
        /// All that is at work.
        case all
    }

    package let subject: Subject
    /// For how long.
    package let time: Duration

    package init(_ subject: Subject, for time: Duration) { (self.subject, self.time) = (subject, time) }

    /// The job that it is about; nil where it is not about one.
    package var job: JobID? {
        switch subject {
        case .stage(let id, _, _), .settlement(let id, _): id
        case .inbox, .all: nil
        }
    }

    /// The kind of the stage that the job is at; nil where it is at none.
    package var stage: String? { if case .stage(_, _, let kind) = subject { kind } else { nil } }

    /// `'run' of 'a.zip' (job 01ARZ…) has not moved for 12 min`
    package var text: String {
        switch subject {
        case .inbox: "its inbox has not answered for \(time.text)"
        case .stage(let id, let path, let kind):
            "'\(kind)' of '\(path.text)' (job \(id)) has not moved for \(time.text)"
        case .settlement(let id, let path):
            "the settlement of '\(path.text)' (job \(id)) has not moved for \(time.text)"
        case .all: "nothing has moved for \(time.text)"
        }
    }

    /// What to do.
    package func remedy(_ pipeline: String) -> String {
        switch subject {
        case .inbox: "See whether its file system answers; a mount whose server is gone can be unmounted (umount -f)."
        case .stage(let id, _, _): "'dropmill show \(id)' tells its story, 'dropmill cancel \(id)' calls it off."
        case .settlement(let id, _):
            "See whether the folders that it goes to answer; 'dropmill show \(id)' tells its story."
        case .all: "'dropmill jobs --pipeline \(pipeline)' lists what is at work."
        }
    }
}

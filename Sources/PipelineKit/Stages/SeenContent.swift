/// Which content came before. A stage asks here and knows no journal.
package protocol SeenContent: Sendable {
    /// The first job that carried this content, or nil where there was none: then it is noted that this job does, all
    /// in one step, so that of two jobs at the same time one is the first.
    ///
    /// Jobs that failed do not count, nor does the job itself. Throws where the journal cannot be asked.
    func first(_ content: SeenQuery) throws(StageFailure) -> SeenJob?
}

/// A job that carried some content before.
package struct SeenJob: Sendable, Hashable {
    /// Which.
    package let id: JobID
    /// Whether it is over; until then it may fail yet.
    package let isOver: Bool

    /// A job.
    package init(_ id: JobID, isOver: Bool) {
        self.id = id
        self.isOver = isOver
    }
}

/// A question for content that came before.
package struct SeenQuery: Sendable, Hashable {
    /// What tells one content from another: `sha256:e3b0c4…`.
    package let content: String
    /// Who asks.
    package let job: JobID
    /// The pipeline of the one who asks.
    package let pipeline: String
    /// Whether jobs of all pipelines count, or those of this one only.
    package let everywhere: Bool
    /// Jobs that asked before this time do not count; nil: all that are known.
    package let since: Timestamp?

    /// A question.
    package init(_ content: String, job: JobID, pipeline: String, everywhere: Bool, since: Timestamp?) {
        self.content = content
        self.job = job
        self.pipeline = pipeline
        self.everywhere = everywhere
        self.since = since
    }
}

/// Where nothing came before.
package struct NothingSeen: SeenContent {
    /// Never anything.
    package init() {}

    package func first(_ content: SeenQuery) throws(StageFailure) -> SeenJob? { nil }
}

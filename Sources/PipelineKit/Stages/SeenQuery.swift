package import Files

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

    package init(_ content: String, job: JobID, pipeline: String, everywhere: Bool, since: Timestamp?) {
        self.content = content
        self.job = job
        self.pipeline = pipeline
        self.everywhere = everywhere
        self.since = since
    }
}

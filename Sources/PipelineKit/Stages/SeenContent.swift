/// Looks up content seen before, so that stages need no journal.
package protocol SeenContent: Sendable {
    /// The first job that carried this content, or nil where there was none: then it is noted that this job does, all
    /// in one step, so that of two jobs at the same time one is the first.
    ///
    /// Jobs that failed do not count, nor does the job itself. Throws where the journal cannot be asked.
    func first(_ content: SeenQuery) throws(Failure) -> SeenJob?
}

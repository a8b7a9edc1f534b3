import Control
import Journal
import PipelineKit

/// Something that is done to many jobs, some at a time: how far it is.
protocol BulkRun {
    /// The jobs that are left, in order.
    var rest: ArraySlice<JobID> { get }
    /// How many were found, of which size, and the first names; nil where none was.
    var found: JobSummary? { get }
    /// What came of it, in a line.
    var text: String { get }

    /// Does it to the next ones, `count` at most, unless too much has become of them since they were found.
    mutating func goOn(_ count: Int) throws(JournalError)
    /// What there is to tell since this was asked for last.
    mutating func results() -> [SendingVerb.Result]
}

extension BulkRun {
    /// To how many it is done at once where there is no hurry to keep back: what comes of them is written together, and
    /// others that write wait meanwhile.
    static var atOnce: Int { 100 }
}

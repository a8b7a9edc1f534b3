import PipelineKit
import SystemPackage

/// Why the journal cannot be used: a sentence with its remedy.
package struct JournalError: Error, Sendable, Hashable {
    /// What kind of trouble it is.
    package enum Kind: Sendable {
        /// A newer Dropmill wrote it, or something else has to be changed by people before it can be used.
        case newer
        /// It is damaged.
        case corrupt
        /// A problem of the disk or file system, which may be temporary.
        case environment
        /// There is no journal.
        case missing
    }

    package let kind: Kind
    package let message: String
    /// What to do about it, where that is not as for a journal in a file.
    private let ownRemedy: String?

    package init(_ kind: Kind, _ message: String, remedy: String? = nil) {
        (self.kind, self.message, ownRemedy) = (kind, message, remedy)
    }

    /// That of the failure that it is for a job.
    package static let code = "journal"

    /// What to do when a running daemon meets it: a sentence.
    package var remedy: String {
        if let ownRemedy { return ownRemedy }
        return switch kind {
        case .corrupt:
            "Restart Dropmill: it moves the damaged journal aside and keeps every job."
        case .environment, .missing, .newer:
            "Check the state folder and its file system; processing resumes by itself."
        }
    }
}

extension Failure {
    /// The journal could not be written: an environment failure, with the code `journal`.
    package init(_ error: JournalError) {
        self.init(
            .environment, code: JournalError.code, summary: Sentence(error.message), remedy: Sentence(error.remedy))
    }
}

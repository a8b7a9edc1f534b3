import PipelineKit
import SystemPackage

/// Why the journal cannot be used: a sentence with its remedy.
package struct JournalError: Error, Sendable, Hashable {
    /// What kind of trouble it is.
    package enum Kind: Sendable {
        /// It was written by a newer Dropmill.
        case newer
        /// What it says makes no sense: it is damaged.
        case corrupt
        /// The disk or the file system is in trouble; it may pass.
        case environment
        /// There is none.
        case missing
    }

    /// The kind.
    package let kind: Kind
    /// The sentence.
    package let message: String

    /// An error.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What to do when a running daemon meets it: a sentence.
    package var remedy: String {
        switch kind {
        case .corrupt:
            "Restart Dropmill: it moves the damaged journal aside and keeps every job."
        case .environment, .missing, .newer:
            "Check the state folder and its file system; work resumes by itself."
        }
    }
}

extension Failure {
    /// The journal could not be written: the surroundings' fault.
    package init(_ error: JournalError) {
        self.init(.environment, code: "journal", summary: error.message, remedy: error.remedy)
    }
}

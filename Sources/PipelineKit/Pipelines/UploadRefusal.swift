/// Why a file or folder is not sent in.
package struct UploadRefusal: Error, Sendable, Equatable {
    /// A word that stays the same, for programs.
    package enum Code: String, Sendable {
        case unknownPipeline = "pipeline.unknown"
        case notAllowed = "upload.off"
        case tooLarge = "upload.size"
        /// What came is not as long as was said.
        case otherLength = "upload.length"
        case tooMany = "upload.busy"
        /// It is a folder where drops are files, or the other way round.
        case otherUnit = "upload.unit"
        /// It is a folder with too much in it.
        case tooManyEntries = "upload.entries"
        /// Whoever writes it has not closed it.
        case stillOpen = "upload.open"
        /// It is in the inbox, and may be gone after a power cut: it is not to be sent again as a matter of course.
        case unsure = "upload.unsure"
        /// A call failed.
        case failed = "upload.failed"
        case nameTaken = "name.taken"
        case nameRefused = "name.refused"
        case noSpace = "space.floor"
        case silent = "inbox.silent"
        case trouble = "pipeline.trouble"
        case stopping = "daemon.stopping"
    }

    package let code: Code
    /// A sentence without its full stop.
    package let fact: String
    /// What to do about it: a sentence.
    package let remedy: String

    package init(_ code: Code, _ fact: String, remedy: String) {
        (self.code, self.fact, self.remedy) = (code, fact, remedy)
    }
}

extension UploadRefusal {
    /// What a failure is about that holds a whole pipeline.
    package init(_ failure: Failure) {
        let fact = failure.summary.hasSuffix(".") ? String(failure.summary.dropLast()) : failure.summary
        self.init(.trouble, fact, remedy: failure.remedy)
    }
}

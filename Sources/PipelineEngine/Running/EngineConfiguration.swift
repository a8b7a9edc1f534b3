import PipelineKit
package import SystemPackage

/// How an engine is to run.
package struct EngineConfiguration: Sendable {
    /// The state folder: lock and journal. Made if missing.
    package var state: FilePath
    /// Whether to settle what is in the inboxes now and then finish.
    package var once: Bool

    /// How long the journal keeps jobs that are over.
    package var keepHistory: Duration

    /// Who tells whether files are whole by their content; nil: nobody can, and pipelines that ask for it wait.
    package var judge: FormatJudge?

    /// A configuration.
    package init(
        state: FilePath, once: Bool = false, keepHistory: Duration = .seconds(90 * 86_400), judge: FormatJudge? = nil
    ) {
        self.state = state
        self.once = once
        self.keepHistory = keepHistory
        self.judge = judge
    }
}

/// Why an engine cannot start: a sentence with its remedy.
package struct EngineError: Error, Sendable {
    /// What kind of trouble it is.
    package enum Kind: Sendable {
        /// Another instance holds the state or a work folder.
        case locked
        /// A folder cannot be used as configured.
        case configuration
        /// The machine, a limit of it, or a disk does not allow for it now.
        case shortage
    }

    /// The kind.
    package let kind: Kind
    /// The sentence.
    package let message: String

    /// An error.
    init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    /// What a call that failed means for a start: `subject` could not be used, and `remedy` is what to do about it. A
    /// lack of descriptors, and a disk or server that does not answer, say nothing of whose a folder is.
    init(_ subject: String, _ error: IOError, remedy: String) {
        var (kind, remedy) = (Kind.shortage, remedy)
        switch error.errno {
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory:
            remedy = DescriptorLimit.remedy
        case let errno where errno == .ioError || errno.isOfNetwork:
            remedy = "look at the disk, mount or server of '\(error.path.text)' and the kernel's log; then start again"
        default: kind = .configuration
        }
        self.init(kind: kind, message: "\(subject): \(error); \(remedy)")
    }
}

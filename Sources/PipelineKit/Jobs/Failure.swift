public import Files

/// Why a stage, a claim or a settlement did not succeed, and what follows from it.
public struct Failure: Error, Sendable, Equatable {
    /// What is at fault; decides what happens next.
    public enum Class: String, Sendable, Codable {
        /// This drop is bad: it settles into failed at once.
        case file
        /// It may succeed later: retried with a growing delay.
        case transient
        /// The surroundings are at fault (disk full, folder gone): the pipeline pauses, no attempt is spent.
        case environment
        /// The work was cancelled (shutdown): the job keeps its state.
        case cancelled
    }

    /// Its class.
    public var `class`: Class
    /// A short stable word for programs, such as `archive.damaged`.
    public var code: String
    /// A sentence for the person who dropped the file: subject and fact.
    public var summary: String {
        get { summarySentence.text }
        set { summarySentence = Sentence(newValue) }
    }
    /// What to do about it: a sentence, or empty.
    public var remedy: String {
        get { remedySentence.text }
        set { remedySentence = Sentence(newValue) }
    }
    /// The same with what was filled in told apart, so that failures of one kind have one sentence.
    package var summarySentence: Sentence
    package var remedySentence: Sentence
    /// The technical fact behind it, or empty.
    public var detail: String
    /// For a transient one: how long the server asked to wait, counted from the end of the run.
    public var retryAfter: Duration?

    /// A failure of this class. Written as literals, its sentences tell what was filled into them from the rest.
    public init(_ class: Class, code: String, summary: Sentence, remedy: Sentence = "", detail: String = "") {
        self.class = `class`
        self.code = code
        summarySentence = summary
        remedySentence = remedy
        self.detail = detail
    }

    /// The same with sentences that were made elsewhere. Generic, since a literal would rather be a `String` than a
    /// `Sentence`.
    @_disfavoredOverload
    public init(
        _ class: Class, code: String, summary: some StringProtocol, remedy: some StringProtocol = String(),
        detail: String = ""
    ) {
        self.init(
            `class`, code: code, summary: Sentence(String(summary)), remedy: Sentence(String(remedy)), detail: detail)
    }

    /// The drop itself is bad.
    public static func file(
        _ code: String, _ summary: Sentence, remedy: Sentence = "", detail: String = ""
    ) -> Failure {
        Failure(.file, code: code, summary: summary, remedy: remedy, detail: detail)
    }

    /// The same with sentences that were made elsewhere.
    @_disfavoredOverload
    public static func file(
        _ code: String, _ summary: some StringProtocol, remedy: some StringProtocol = String(), detail: String = ""
    ) -> Failure {
        Failure(
            .file, code: code, summary: Sentence(String(summary)), remedy: Sentence(String(remedy)), detail: detail)
    }

    /// Whether both say the same.
    public static func == (left: Failure, right: Failure) -> Bool {
        left.class == right.class && left.code == right.code && left.summary == right.summary
            && left.remedy == right.remedy && left.detail == right.detail && left.retryAfter == right.retryAfter
    }

    /// The work was called off.
    public static let cancelled = Failure(.cancelled, code: "cancelled", summary: "The work was cancelled.")

    /// A failed system call about something of ours. `environment` where the kernel blames space, rights, mounts or
    /// hardware; else of the file.
    package init(_ error: IOError) {
        self.init(
            error.errno.trouble(with: .result) == .pauses ? .environment : .file,
            code: "io.\(error.slug)",
            summary: "\(error).",
            remedy: Self.remedy(for: error),
            detail: "errno \(error.errno.rawValue)")
    }

    /// A failed system call of a stage. As above, but an unreadable or removed drop is no
    /// reason to stop a pipeline: it fails alone.
    public init(inStage error: IOError) {
        self.init(error)
        let isReading = ["open", "read", "examine", "list"].contains(error.action)
        switch error.errno {
        case .permissionDenied, .notPermitted, .noSuchFileOrDirectory, .notDirectory:
            guard isReading else { return }
            self.class = .file
            remedy =
                "Give Dropmill's user read access to what is dropped (mode, owner, default ACL); then send it "
                + "again."
        default: break
        }
    }

    private static func remedy(for error: IOError) -> Sentence {
        switch error.errno {
        case .notPermitted where error.action == IOError.followingOthers:
            "Use the folder's real path, or give the link to root (chown -h); processing resumes by itself."
        case .noSpace:
            "Free space or inodes on the file system of '\(error.path.text)'; processing resumes by itself."
        case .diskQuotaExceeded: "Raise the quota or free space; processing resumes by itself."
        case .readOnlyFileSystem:
            "Mount the file system of '\(error.path.text)' writable; processing resumes by itself."
        case .permissionDenied, .notPermitted:
            "Give Dropmill's user permission for it; processing resumes by itself."
        case .fileTooLarge: "Use a larger file system for it, or set `ready.max_size` to what fits there."
        case .ioError: "Check the disk or mount of '\(error.path.text)' and the kernel's log."
        case let errno where errno.isOfNetwork:
            "Check why the server of '\(error.path.text)' does not answer; processing resumes by itself."
        case .noSuchFileOrDirectory, .notDirectory: "Restore the folder or mount; processing resumes by itself."
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "Raise the limit of open files (LimitNOFILE, fs.file-max)."
        case .fileNameTooLong: "Give the drop a shorter name, or publish it under a shorter path."
        case .notSupported, .invalidArgument:
            "Check whether the file system of '\(error.path.text)' supports such names and files."
        default: ""
        }
    }
}

extension Failure: CustomStringConvertible {
    /// What is wrong, and what to do about it.
    public var description: String { remedy.isEmpty ? summary : "\(summary) \(remedy)" }
}

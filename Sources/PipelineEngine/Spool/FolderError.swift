import Files
import SystemPackage

/// Why one of our folders cannot be used: a sentence with its remedy.
package struct FolderError: Error, Sendable {
    /// What kind of trouble it is.
    package enum Kind: Sendable {
        /// Another instance holds it.
        case locked
        /// It cannot be used as configured.
        case configuration
        /// The machine, a limit of it, or a disk does not allow for it now.
        case shortage
    }

    package let kind: Kind
    package let message: String

    init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    static let descriptors =
        "raise the limit (`LimitNOFILE=` in the unit, `ulimit -n` in a shell, or fs.file-max)"

    /// What a call that failed means for a start: `subject` could not be used, and `remedy` is what to do about it. A
    /// lack of descriptors, and a disk or server that does not answer, say nothing of whose a folder is.
    init(_ subject: String, _ error: IOError, remedy: String) {
        var (kind, remedy) = (Kind.shortage, remedy)
        switch error.errno {
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory:
            remedy = Self.descriptors
        case .noSpace, .diskQuotaExceeded:
            remedy = "make room on the file system of '\(error.path.text)'; then start again"
        case .readOnlyFileSystem:
            remedy = "have the file system of '\(error.path.text)' mounted for writing; then start again"
        case let errno where errno == .ioError || errno.isOfNetwork:
            remedy = "check the disk, mount or server of '\(error.path.text)' and the kernel's log; then start again"
        default: kind = .configuration
        }
        self.init(kind: kind, message: "\(subject): \(error); \(remedy)")
    }
}

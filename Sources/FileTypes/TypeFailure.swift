import Helpers
package import SystemPackage

/// Why a file's type cannot be detected.
package enum TypeFailure: Error, Sendable, Equatable {
    /// The content exceeds libmagic's limits; with its message.
    case content(String)
    /// The file cannot be read.
    case unreadable(Errno)
    /// libmagic's rules cannot be loaded; with its message.
    case unloaded(String)
    /// The helper could not be started; `noChildProcess`: it was gone before it began, each time.
    case unavailable(Errno)
    /// The helper could not be confined; with what is missing.
    case unconfined(String)
    /// The helper ended over the file: by that signal, or with that status where it is 0; and what it wrote last.
    case crashed(signal: Int32, status: Int32, log: String)
    /// It exceeded its time limit.
    case overTime(seconds: Int64)
    /// It exceeded its CPU time.
    case overCPU
    /// The helper broke the protocol.
    case confused
    /// The work was cancelled.
    case cancelled
}

extension TypeFailure {
    init(_ failure: FileHelpers.Failure) {
        self =
            switch failure {
            case .unavailable(let errno): .unavailable(errno)
            case .unconfined(let what): .unconfined(what)
            case .crashed(let signal, let status, let log): .crashed(signal: signal, status: status, log: log)
            case .overTime(let seconds): .overTime(seconds: seconds)
            case .overCPU: .overCPU
            case .confused: .confused
            case .cancelled: .cancelled
            }
    }
}

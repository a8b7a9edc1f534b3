import Helpers
package import SystemPackage

/// Why a file's type cannot be told.
package enum TypeFailure: Error, Sendable, Equatable {
    /// The content would have libmagic go further than it may; with its own words.
    case content(String)
    /// The file cannot be read.
    case unreadable(Errno)
    /// libmagic has no rules to go by; with its own words.
    case unloaded(String)
    /// The helper could not be started; `noChildProcess`: it was gone before it began, each time.
    case unavailable(Errno)
    /// The helper could not be confined; with what is missing.
    case unconfined(String)
    /// The helper ended over the file: by that signal, or with that status where it is 0; and what it wrote last.
    case crashed(signal: Int32, status: Int32, log: String)
    /// It took longer than it may.
    case overTime(seconds: Int64)
    /// It used more of the processors than it may.
    case overCPU
    /// The helper said something that no helper says.
    case confused
    /// The work was called off.
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

import Glibc
import Helpers
package import SystemPackage

/// Why a helper gave no result.
package enum HelperFailure: Error, Sendable, Equatable {
    /// The archive or the surroundings are at fault.
    case archive(ArchiveError)
    /// It could not be started; `noChildProcess`: it was gone before it began, each time.
    case unavailable(Errno)
    /// It ended by itself: by that signal, or with that status where it is 0; and what it wrote last.
    case crashed(signal: Int32, status: Int32, log: String)
    /// It exceeded its time limit.
    case overTime(seconds: Int64)
    /// It exceeded its CPU time.
    case overCPU
    /// It broke the protocol.
    case confused
    /// It wrote more than allowed, or more than it reported.
    case overgrown
    /// It could not be confined as was required: the call that was refused.
    case unconfined(call: String, Errno)
    /// It has no libarchive; why.
    case unloaded(String)
    /// The work was cancelled.
    case cancelled
}

extension HelperFailure {
    init(_ failure: HelperLauncher.Failure) {
        switch failure {
        case .cancelled: self = .cancelled
        case .unavailable(let errno): self = .unavailable(errno)
        }
    }
}

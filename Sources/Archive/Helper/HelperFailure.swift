import Glibc
import Helpers
package import SystemPackage

/// Why a helper gave no result.
package enum HelperFailure: Error, Sendable, Equatable {
    /// The archive is bad, or what is around it.
    case archive(ArchiveError)
    /// It could not be started; `noChildProcess`: it was gone before it began, each time.
    case unavailable(Errno)
    /// It ended by itself: by that signal, or with that status where it is 0; and what it wrote last.
    case crashed(signal: Int32, status: Int32, log: String)
    /// It took longer than it may.
    case overTime(seconds: Int64)
    /// It used more of the processors than it may.
    case overCPU
    /// It said something that no helper says.
    case confused
    /// It wrote more than it may, or than it said.
    case overgrown
    /// It could not be confined as was required: the call that was refused.
    case unconfined(call: String, Errno)
    /// The work was called off.
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

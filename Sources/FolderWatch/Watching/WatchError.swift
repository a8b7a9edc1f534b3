package import Files
public import SystemPackage

/// Why a folder or file cannot be watched now.
public struct WatchError: Error, Sendable, Equatable {
    /// What is behind it.
    package enum Cause: Sendable, Equatable {
        /// It cannot be opened or listed.
        case io(IOError)
        /// It is not the expected folder, as the owner's check found.
        case away(code: String, summary: String, remedy: String)
    }

    package let cause: Cause

    package static func io(_ error: IOError) -> WatchError { WatchError(cause: .io(error)) }

    package static func away(code: String, summary: String, remedy: String) -> WatchError {
        WatchError(cause: .away(code: code, summary: summary, remedy: remedy))
    }

    /// The error number of the call that failed (errno(3)); nil where no call failed.
    public var errno: Errno? { if case .io(let error) = cause { error.errno } else { nil } }

    /// What to do about it: a sentence without its stop, or empty.
    public var remedy: String {
        switch cause {
        case .away(_, _, let remedy): remedy
        case .io(let error):
            switch error.errno {
            case .noSuchFileOrDirectory: "make it, or check its path and whether its file system is mounted"
            case .notDirectory: "give the path of a folder"
            case .tooManySymbolicLinkLevels, .improperLink: "give its real path"
            case .notPermitted where error.action == IOError.followingOthers:
                "give its real path, or let the link belong to root or to the user of this process"
            case .permissionDenied, .notPermitted: "let the user of this process read and search it"
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: "raise the limit of open files, or close some"
            case .invalidArgument: "give the path of a regular file"
            default: "check the disk or mount that holds it"
            }
        }
    }
}

extension WatchError: CustomStringConvertible {
    /// `cannot open '/srv/in': No such file or directory; make it, or check its path …`
    public var description: String {
        let fact =
            switch cause {
            case .io(let error): "\(error)"
            case .away(_, let summary, _): summary
            }
        return remedy.isEmpty ? fact : "\(fact); \(remedy)"
    }
}

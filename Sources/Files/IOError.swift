public import SystemPackage

/// A failed system call: the action, the path and the errno.
public struct IOError: Error, Sendable, Equatable {
    /// What was being done, as a verb: `open`, `create`, `rename`, `read`.
    public let action: String
    /// The path it was done to.
    public let path: FilePath
    /// Why it failed.
    public let errno: Errno

    /// An error of a call that has just failed.
    public init(_ action: String, _ path: FilePath, _ errno: Errno) {
        self.action = action
        self.path = path
        self.errno = errno
    }

    /// The action of the error for another user's symbolic link, which is not followed.
    package static let followingOthers = "follow the link of another user"

    /// The action as a stable word for programs: `create-folder` for `create the folder`.
    package var slug: String {
        action.split(separator: " ").filter { !["as", "for", "of", "the"].contains($0) }.joined(separator: "-")
    }
}

extension IOError: CustomStringConvertible {
    /// `cannot rename '/srv/in/a.pdf': No space left on device`
    public var description: String { "cannot \(action) '\(path.text)': \(errno)" }
}

extension Errno {
    /// The calling thread's errno, just after a call has failed.
    package static var last: Errno { Errno(rawValue: systemErrno()) }
}

import Glibc
package import SystemPackage

/// What a system call that failed means for the work. Decided here alone, by whose file or folder it was about: trouble
/// of one drop must not stop the others, whatever the kernel calls it.
package enum Trouble: Sendable, Hashable {
    /// No work can continue until it is fixed: the pipeline pauses.
    case pauses
    /// This drop cannot be dealt with as it is now: it waits alone, and its time runs.
    case waits
    /// It is gone, or something else by now: the next look shows what.
    case gone
    /// This job cannot be done, and would not be at another time.
    case fails

    /// Whose file or folder a call was about.
    package enum Subject: Sendable, CaseIterable {
        /// A folder that all drops need: the inbox as a whole, the work folder.
        case ours
        /// Something that is made under a name, or of a content, of a sender's in a folder of ours.
        case result
        /// A drop, what lies in it, what came with it, and the folders of an inbox.
        case drop
    }
}

/// Those of a connection: swift-system has no names for all of them.
private let networkErrors: Set<Int32> = [
    ETIMEDOUT, ECONNREFUSED, ECONNRESET, ECONNABORTED, ENOTCONN, EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH,
    EREMOTEIO, ENOLINK, ESHUTDOWN,
]

extension Errno {
    /// What it means for the work, when a call failed that was about that.
    package func trouble(with subject: Trouble.Subject) -> Trouble {
        switch subject {
        case .ours: .pauses
        case .result: isShortage || isOfPlaces ? .pauses : .fails
        // A failing disk shows itself in the inbox too, which is listed and opened all the time.
        case .drop: isShortage ? .pauses : isGone ? .gone : .waits
        }
    }

    /// Something is used up or closed to all that is ours, whatever it was needed for.
    private var isShortage: Bool {
        switch self {
        case .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .tooManyOpenFiles, .tooManyOpenFilesInSystem,
            .noMemory:
            true
        default: false
        }
    }

    /// Rights, mounts or hardware of a place are to blame, if it is one of ours.
    private var isOfPlaces: Bool {
        switch self {
        case .ioError, .permissionDenied, .notPermitted, .staleNFSFileHandle, .noSuchAddressOrDevice,
            .operationNotSupportedByDevice, .noSuchFileOrDirectory, .notDirectory:
            true
        default: isOfNetwork
        }
    }

    /// The server of a network file system, or what serves one of FUSE, does not answer.
    package var isOfNetwork: Bool {
        networkErrors.contains(rawValue)
    }

    private var isGone: Bool {
        switch self {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels: true
        default: false
        }
    }
}

extension IOError {
    /// Whether a folder of an inbox could not be opened because it is gone, or something else by now.
    package var isUnreachable: Bool { errno.trouble(with: .drop) == .gone }
}

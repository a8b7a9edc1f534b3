import Platform
package import SystemPackage

/// What a failed system call means for the work. Decided only here, by whose file or folder it concerns: a problem
/// of one drop must not stop the others, whatever the errno.
package enum Trouble: Sendable, Hashable {
    /// No work can continue until it is fixed: the pipeline pauses.
    case pauses
    /// This drop cannot be handled now: it waits alone, and its `timeout` runs.
    case waits
    /// It is gone or was replaced: the next look will show.
    case gone
    /// This job fails, and would fail again later.
    case fails

    /// Whose file or folder a call concerned.
    package enum Subject: Sendable, CaseIterable {
        /// A folder that all drops need: the inbox as a whole, the work folder.
        case ours
        /// A file in one of our folders whose name or content comes from a sender.
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
    /// What this errno means for the work, depending on the subject of the call.
    package func trouble(with subject: Trouble.Subject) -> Trouble {
        switch subject {
        case .ours: .pauses
        case .result: isShortage || isOfPlaces ? .pauses : .fails
        // A failing disk also shows in the inbox, which is listed and opened all the time.
        case .drop: isShortage ? .pauses : isGone ? .gone : .waits
        }
    }

    /// A resource is exhausted or unavailable for everything.
    private var isShortage: Bool {
        switch self {
        case .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .tooManyOpenFiles, .tooManyOpenFilesInSystem,
            .noMemory:
            true
        default: false
        }
    }

    /// The rights, mounts or hardware of a folder are at fault, if it is one of ours.
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

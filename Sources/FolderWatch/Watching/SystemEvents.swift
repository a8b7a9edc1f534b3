import Files

/// The events of this system.
package enum SystemEvents {
    /// What there is in this build.
    package enum Kind: String, CaseIterable, Sendable {
        #if os(Linux)
            /// Those of Linux.
            case inotify
        #endif
        #if canImport(Darwin) || os(FreeBSD) || os(OpenBSD) || DROPMILL_KQUEUE
            /// Those of Darwin and the BSDs.
            case kqueue
        #endif
        /// None: folders are listed again and again.
        case none

        /// What this system is watched by.
        package static var system: Kind {
            #if canImport(Darwin) || os(FreeBSD) || os(OpenBSD) || DROPMILL_KQUEUE
                .kqueue
            #elseif os(Linux)
                .inotify
            #else
                .none
            #endif
        }

        /// Why there are none where they could not be opened, with the remedy.
        package var lack: String {
            switch self {
            #if os(Linux)
                case .inotify:
                    "inotify could not be opened; raise fs.inotify.max_user_instances (see sysctl) or the limit of "
                        + "open files"
            #endif
            #if canImport(Darwin) || os(FreeBSD) || os(OpenBSD) || DROPMILL_KQUEUE
                case .kqueue: "kqueue could not be opened; raise the limit of open files (ulimit -n)"
            #endif
            case .none: "this system reports no changes in folders; they are listed again and again"
            }
        }
    }

    /// Opens them, or says why there are none.
    package static func open(_ kind: Kind = .system) -> any FolderEvents {
        do throws(IOError) {
            switch kind {
            #if os(Linux)
                case .inotify: return try InotifyEvents()
            #endif
            #if canImport(Darwin) || os(FreeBSD) || os(OpenBSD) || DROPMILL_KQUEUE
                case .kqueue: return try KqueueEvents()
            #endif
            case .none: break
            }
        } catch {}
        return NoEvents(because: kind.lack)
    }
}
